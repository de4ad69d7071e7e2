import { imageParts, isPlainImage } from '../catalog/images.ts';
import { either } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';

/** Images that have no program for a GPU: operating systems, tools, tests, and NVIDIA's samples. */
const plainImages = either(
  /^(?:ubuntu|debian|alpine|centos|fedora|rockylinux|almalinux|amazonlinux|ubi\d*(?:-\w+)?)$/,
  /^(?:busybox|bash|curl|perl|nginx|netshoot|sleep)$/,
  /^(?:pause(?:-\w+)?|agnhost|hello-\w+|echo-?server|dummy[\w-]*)$/,
  /^(?:cuda-vector-?add|cuda-samples?|vector-?add)$/,
);

/** Whether a container can only be an example: its image cannot use the devices that it holds, or only proves that they are there. */
export function isDemo({ image }: Pick<Container, 'image'>): boolean {
  if (image === undefined) return false;
  const [name = '', tag = ''] = image.value.slice(image.value.lastIndexOf('/') + 1).split(/[:@]/, 2);
  // CUDA's base image has the driver's tools and no libraries.
  return (
    plainImages.test(name) ||
    isPlainImage(imageParts(image.value).repository) ||
    (name === 'cuda' && /(?:^|-)base(?:-|$)/.test(tag))
  );
}
