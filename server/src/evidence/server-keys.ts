import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { soleServer } from './sole-server.ts';

/**
 * Servers that answer everyone unless a flag or a variable sets a key. Ollama and Triton have none.
 * https://docs.vllm.ai/en/latest/configuration/serve_args/ https://docs.sglang.io/advanced_features/server_arguments.html
 * https://huggingface.co/docs/text-generation-inference/reference/launcher
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md https://docs.ollama.com/api/authentication
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/customization_guide/inference_protocols.html
 */
const openServers = wordSet('vllm sglang text-generation-launcher llama-server ollama tritonserver');

/** Flags that set a key, or by which another program, a certificate or a file may ask for one. */
const guards = new RegExp(
  `(?:^|-)(?:${oneOf('keys? middleware ca-certs cert-reqs ssl-cert use-ssl restricted')})(?:-|$)|-file$|^c(?:onfig)?$`,
);

/** Whether the only server of a container certainly answers requests without a key. */
export function lacksKey(container: Container): boolean {
  const server = soleServer(container);
  if (server === undefined || !openServers.has(server.program) || mayHaveVariables(container)) return false;
  const { command, args } = container;
  const words = server.command?.words ?? [];
  const flags = readFlags(words);
  if ([...command, ...args].some(({ at }) => isTemplated(at)) || flags.some(({ name }) => guards.test(name)))
    return false;
  if (words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word))) return false;
  const names = [
    ...processInput(container).env.map(({ name }) => name),
    ...(server.command?.assignments ?? []).map(({ text }) => text.split('=', 1)[0] ?? ''),
  ];
  return !names.some((name) => /(?:^|_)API_?KEY|ARGS|FLAGS|OPTS/.test(name));
}
