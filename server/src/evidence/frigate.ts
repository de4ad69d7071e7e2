import { imageParts } from '../catalog/images.ts';
import type { YamlDocument } from '../yaml/node.ts';

/** Whether Frigate's values or its object set a detector of TensorRT, for which it has its own build. https://docs.frigate.video/configuration/object_detectors/ */
export function lacksTensorRt(image: string, { text }: YamlDocument): boolean {
  const { repository, tag } = imageParts(image);
  return (
    repository.endsWith('blakeblackshear/frigate') &&
    tag !== undefined &&
    !/tensorrt|-tr/.test(tag) &&
    /^\s*type:\s*["']?tensorrt\b/m.test(text)
  );
}
