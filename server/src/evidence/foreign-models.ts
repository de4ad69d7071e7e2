import { wordSet } from '../catalog/word-patterns.ts';
import { commandsIn } from '../model/process-input.ts';
import { knownModel, servedModel } from '../model/served-model.ts';
import type { Container, Workload } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { mayHaveVariables } from './launch.ts';
import { soleServer } from './sole-server.ts';

/**
 * What is wrong with the model of a server that serves another kind: Text Embeddings Inference needs to know how a model's states become one
 * embedding, and Text Generation Inference has no code for encoders.
 * https://huggingface.co/docs/text-embeddings-inference/supported_models https://huggingface.co/docs/text-generation-inference/supported_models
 */
export function foreignModel(container: Container, workload: Workload): string | undefined {
  const program = soleServer(container)?.program;
  if (program !== 'text-embeddings-router' && program !== 'text-generation-launcher') return undefined;
  const { model } = servedModel(container, workload);
  const known = model === null || model.open.length > 0 ? undefined : knownModel(model);
  const [owner = '', own = ''] = model?.name.split('/') ?? [];
  if (known?.basis !== 'name') return undefined;
  const { kind, causal } = known.shape;
  const name = shorten(own, 40);
  if (program === 'text-generation-launcher')
    return /^(?:embedding|reranker|encoder)$/.test(kind) && causal !== true
      ? `Text Generation Inference writes text, but ${name} only reads it: the server does not start`
      : undefined;
  const mayPool =
    mayHaveVariables(container) ||
    container.env.some(({ name: variable }) => variable === 'POOLING' || variable === '') ||
    commandsIn(container).some(({ words }) => words.some(({ text }) => /pooling/.test(text)));
  // Others publish copies for another purpose under almost the same name.
  return kind === 'language' && publishers.has(owner.toLowerCase()) && !mayPool && !/embed|rerank|reward/i.test(own)
    ? `Text Embeddings Inference serves embeddings, but ${name} writes text: without --pooling, the server does not start`
    : undefined;
}

/** Organizations whose models of languages have no configuration for embeddings. */
const publishers = wordSet(
  'meta-llama mistralai qwen google microsoft deepseek-ai tiiuae openai tinyllama huggingfaceh4',
);
