import { modelByName, type NamedModel } from '../catalog/index.ts';
import type { Container } from './workload.ts';

/**
 * The model in the workspace's folder of this name, by its config.json. If it has the size of the model that the name stands for, it has its shape also,
 * and the config says how the weights are stored. Undefined without a folder, and if the name is certainly another model's, which is then downloaded.
 */
export function modelInFolder(name: string, { modelConfig }: Container): NamedModel | undefined {
  const own = modelConfig?.(name);
  const named = own && modelByName(name);
  if (own === undefined || named === undefined) return own;
  const isSame = (['layers', 'hidden', 'vocabulary'] as const).every((key) => own.shape[key] === named.shape[key]);
  if (isSame) return { ...named, format: own.format ?? named.format };
  return named.basis === 'name' ? undefined : own;
}
