import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { servedFlags } from './launch.ts';
import { soleServer } from './sole-server.ts';

/** A model on Hugging Face whose files its server cannot read. */
export interface UnreadableForm {
  readonly name: string;
  /** `has GGUF files, which TGI does not read`. */
  readonly problem: string;
  /** The words or the variable with the name. */
  readonly place: { readonly words: readonly [Word, Word] } | { readonly at: Cursor };
}

/** Organizations that publish 16-bit weights under plain names. Quantized ones have their format in the name. */
export const plainWeights = wordSet(
  'meta-llama mistralai google qwen microsoft tiiuae facebook bigcode eleutherai codellama 01-ai ibm-granite',
  'allenai openai-community lmsys huggingfaceh4 bigscience',
);

/** The model of a container's only server, if its name says that it is in a form that the server cannot read. */
export function unreadableForm(container: Container): UnreadableForm | undefined {
  const server = soleServer(container);
  switch (server?.program) {
    case 'vllm':
      return gguf(container, 'has GGUF files, of which vLLM needs one: it does not start with the whole repository');
    case 'text-generation-launcher':
      // Its variant with llama.cpp makes such files itself.
      return /llamacpp/.test(imageParts(container.image?.value ?? '').tag ?? '')
        ? undefined
        : gguf(
            container,
            'has GGUF files, which Text Generation Inference does not read: it does not start',
            'MODEL_ID',
          );
    case 'llama-server': {
      const file = fileOfLlama(readFlags(server.command?.words ?? []));
      if (file !== undefined) return file;
      const flag = readFlags(server.command?.words ?? []).find(({ name }) => /^(?:hf|hfr|hf-repo)$/.test(name));
      const [name = ''] = (flag?.value ?? '').split(':');
      if (flag === undefined || flag.dynamic || !isRepository(name) || wordsOf(name).includes('gguf')) return undefined;
      // The first models of Gemma have such a file next to their weights.
      if (/^google\/gemma-[27]b\b/i.test(name)) return undefined;
      if (!plainWeights.has(name.split('/', 1)[0]?.toLowerCase() ?? '')) return undefined;
      const words = [flag.word, flag.valueWord ?? flag.word] as const;
      return {
        name,
        problem: 'has no GGUF files: llama.cpp does not start without a repository that has them',
        place: { words },
      };
    }
    default:
      return undefined;
  }
}

/** What llama.cpp loads as a file, although it is a name of Hugging Face or has another format. */
function fileOfLlama(flags: readonly Flag[]): UnreadableForm | undefined {
  const flag = flags.find(({ name }) => name === 'm' || name === 'model');
  const name = flag?.value ?? '';
  if (flag === undefined || flag.dynamic || flags.some((one) => /^(?:hf|mu|model-url|docker)/.test(one.name)))
    return undefined;
  const place = { words: [flag.word, flag.valueWord ?? flag.word] as const };
  if (/^\/(?:[\w.-]+\/)+$/.test(name))
    return { name, problem: 'is a folder, not a GGUF file: llama.cpp does not start', place };
  if (/^\/?(?:[\w.-]+\/)*[\w.-]+\.(?:safetensors|bin|pth?|onnx)$/.test(name))
    return { name, problem: 'is not a GGUF file, the only format of llama.cpp: it does not start', place };
  // The repository of a file in a folder of this name would be on a volume.
  const isName = isRepository(name.split(':', 1)[0] ?? '') && /^[\w.-]+\/[\w.-]*gguf(?::[\w.-]+)?$/i.test(name);
  return isName
    ? {
        name,
        problem: `is not a file, which ${flag.word.text.split('=', 1)[0] ?? ''} needs; did you mean -hf? llama.cpp finds no model`,
        place,
      }
    : undefined;
}

/** @param reads the variable from which the server reads its model */
function gguf(container: Container, problem: string, reads?: string): UnreadableForm | undefined {
  const model = servedFlags(container)?.model;
  const variable = reads === undefined ? undefined : container.env.find(({ name }) => name === reads)?.value;
  const isWritten = variable !== undefined && !isTemplated(variable.at);
  const name = model?.value ?? (isWritten ? variable.value : '');
  if (!isRepository(name) || !wordsOf(name).includes('gguf')) return undefined;
  if (model !== undefined) return { name, problem, place: { words: model.words } };
  return variable && { name, problem, place: { at: variable.at } };
}

function isRepository(name: string): boolean {
  return /^[\w.-]+\/[\w.-]+$/.test(name) && !/\.gguf$/i.test(name);
}
