import { wordSet } from '../catalog/word-patterns.ts';

/** Whether a path is that of a GPU's device files. Also those of Jetson's GPU and of Windows' GPUs in WSL. */
export function isGpuFile(path: string): boolean {
  return path.startsWith('/dev/') && /^\/dev\/(?:dri|kfd|dxg|nvgpu|nvmap|nvhost[\w-]*|nvidia\d)(?:\/|$)/.test(path);
}

/** Whether a path is that of NVIDIA's driver or its libraries on a node. Those of its operator are under /run. */
export function isDriverFile(path: string): boolean {
  return /^\/(?:usr|opt|var\/lib|home\/kubernetes\/bin)\//.test(path) && driver.test(path);
}

const driver = /\/(?:nvidia(?:[-_]?drivers?)?(?:[-_][\d.]+)?|libcuda\.so[\w.]*|libnvidia-ml\.so[\w.]*)(?:\/|$)/;

/** Whether a value gives a container GPUs without a request: a device file, NVIDIA's runtime class, or the name of a variable for its runtime. */
export function passesGpus(value: string): boolean {
  return words.has(value) || isGpuFile(value);
}

const words = wordSet('nvidia NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES');
