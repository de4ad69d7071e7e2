import type { Release } from './server-support.ts';

/**
 * The release of vLLM in NVIDIA's image `ai-dynamo/vllm-runtime`, by the release of Dynamo in its tag.
 * https://docs.nvidia.com/dynamo/v-0-9-1/getting-started/support-matrix, https://docs.nvidia.com/dynamo/v1.2.0/resources/support-matrix,
 * https://docs.nvidia.com/dynamo/reference/compatibility; read 2026-11-30
 */
const vllmOfDynamo: ReadonlyMap<string, Release> = new Map([
  ['0.6', [0, 11, 0]],
  ['0.7', [0, 11, 0]],
  ['0.8', [0, 12, 0]],
  ['0.9', [0, 14, 1]],
  ['1.0', [0, 16, 0]],
  ['1.1', [0, 19, 0]],
  ['1.2', [0, 20, 1]],
  ['1.3', [0, 23, 0]],
  ['1.4', [0, 26, 0]],
  ['1.5', [0, 28, 0]],
]);

/** Null for other images; undefined for other tags, such as previews and builds for one model. */
export function dynamoVllm(repository: string, tag: string): Release | null | undefined {
  if (!/(?:^|\/)ai-dynamo\/vllm-runtime$/.test(repository)) return null;
  const [, minor = ''] =
    /^v?(\d{1,2}\.\d{1,2})\.\d{1,2}(?:\.post\d+)?(?:-(?:cuda\d+|efa|amd64|arm64))*$/.exec(tag) ?? [];
  return vllmOfDynamo.get(minor);
}
