import { imageParts, isPlainImage } from '../catalog/images.ts';
import type { Container } from '../model/workload.ts';

/** Images that have no program for a GPU: operating systems, and images for tests and examples. */
const plainImages =
  /^(?:ubuntu|debian|busybox|alpine|centos|fedora|rockylinux|almalinux|amazonlinux|ubi\d*(?:-\w+)?|pause(?:-\w+)?|agnhost|hello-\w+|echo-?server|netshoot|nginx|perl|bash|curl|cuda-vector-?add|cuda-samples?|vector-?add|sleep|dummy[\w-]*)$/;

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
