import { imageParts } from '../catalog/images.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { placesAt } from './written.ts';

/**
 * A ConfigMap from which NVIDIA's device plugin takes its variables, none of which the plugin has. It reads settings for sharing only from a file:
 * https://github.com/NVIDIA/k8s-device-plugin#configuring-the-nvidia-device-plugin-binary (2026-11-30)
 * @param keysOf the keys of a ConfigMap of the same file
 */
export function configInVariables(
  { kind, root, isPatch }: Manifest,
  keysOf: (name: string) => readonly string[] | undefined,
): Cursor | undefined {
  if (kind !== 'DaemonSet' || isPatch) return undefined;
  return placesAt(root, 'spec.template.spec.containers.*')
    .filter((container) => isPlugin(getIn(container, 'image')) && !isIncomplete(container))
    .filter((container) => !hasFile(container))
    .flatMap((container) => placesAt(container, 'envFrom.*.configMapRef.name'))
    .find((name) => {
      const keys = isTemplated(name) ? undefined : keysOf(asText(name) ?? '');
      // The plugin's variables are all uppercase.
      return keys !== undefined && keys.length > 0 && keys.every((key) => /[a-z]/.test(key));
    });
}

function isPlugin(image: Cursor | undefined): boolean {
  const { repository } = imageParts(asText(image) ?? '');
  return /(?:^|\/)(?:k8s-device-plugin|nvidia-device-plugin)$/.test(repository);
}

/** Whether a variable or an argument names a file. */
function hasFile(container: Cursor): boolean {
  const names = placesAt(container, 'env.*.name');
  const words = ['command', 'args'].flatMap((field) => placesAt(container, `${field}.*`));
  return (
    names.some((name) => /^(?:GFD_)?CONFIG_FILE$/.test(asText(name) ?? '')) ||
    words.some((word) => isTemplated(word) || (asText(word) ?? '').includes('config-file'))
  );
}
