import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { variableUsers } from './variable-users.ts';

/** A variable that the server of an image does not read, with the one that it reads for the same setting. */
export interface UnreadByImage {
  readonly server: string;
  readonly name: string;
  readonly meant: string;
  readonly at: Container['env'][number]['at'];
}

interface ImageSetting {
  /** What the server reads. */
  readonly meant: string;
  /** Other variables that it reads, which have the same effect. */
  readonly alike?: ReadonlySet<string>;
  /** The flags that have the same effect. */
  readonly flags: readonly string[];
  /** What other servers read, or what one would call it. */
  readonly others: ReadonlySet<string>;
}

interface ServerImage {
  readonly server: string;
  /** The repository, also in mirrors, and the tags of this server. */
  readonly repository: RegExp;
  readonly tag?: RegExp;
  readonly settings: readonly ImageSetting[];
}

const models = 'MODEL MODEL_NAME MODEL_PATH';

/** Servers with published images. Sources, read 2026-11-29. */
const images: readonly ServerImage[] = [
  {
    // https://huggingface.co/docs/text-embeddings-inference/cli_arguments
    server: 'Text Embeddings Inference',
    repository: /(?:^|\/)huggingface\/text-embeddings-inference$/,
    settings: [
      { meant: 'MODEL_ID', flags: ['--model-id'], others: wordSet(models, 'EMBEDDING_MODEL HF_MODEL_ID TEI_MODEL') },
    ],
  },
  {
    // https://michaelfeil.eu/infinity/latest/cli_v2/
    server: 'Infinity',
    repository: /(?:^|\/)michaelf34\/infinity$/,
    settings: [
      {
        meant: 'INFINITY_MODEL_ID',
        flags: ['--model-id'],
        others: wordSet(models, 'MODEL_ID INFINITY_MODEL EMBEDDING_MODEL'),
      },
    ],
  },
  {
    // https://ahmetoner.com/whisper-asr-webservice/environmental-variables/
    server: 'The Whisper service',
    repository: /(?:^|\/)onerahmet\/openai-whisper-asr-webservice$/,
    settings: [
      {
        meant: 'ASR_MODEL',
        flags: [],
        others: wordSet('MODEL MODEL_NAME MODEL_SIZE WHISPER_MODEL WHISPER_MODEL_SIZE WHISPER_MODEL_NAME'),
      },
      { meant: 'ASR_ENGINE', flags: [], others: wordSet('ENGINE WHISPER_ENGINE') },
      { meant: 'ASR_DEVICE', flags: [], others: wordSet('DEVICE WHISPER_DEVICE') },
    ],
  },
  {
    // https://speaches.ai/configuration/
    server: 'speaches',
    repository: /(?:^|\/)(?:speaches-ai\/speaches|fedirz\/faster-whisper-server)$/,
    settings: [
      {
        meant: 'WHISPER__COMPUTE_TYPE',
        flags: [],
        others: wordSet('COMPUTE_TYPE WHISPER_COMPUTE_TYPE ASR_QUANTIZATION'),
      },
    ],
  },
  {
    // https://docs.linuxserver.io/images/docker-faster-whisper/
    server: 'The image of faster-whisper',
    repository: /(?:^|\/)linuxserver\/faster-whisper$/,
    settings: [
      { meant: 'WHISPER_MODEL', flags: [], others: wordSet('MODEL MODEL_SIZE ASR_MODEL WHISPER_MODEL_SIZE') },
      { meant: 'WHISPER_LANG', flags: [], others: wordSet('WHISPER_LANGUAGE') },
    ],
  },
  {
    // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
    server: 'llama.cpp',
    repository: /(?:^|\/)(?:ggml-org|ggerganov)\/llama\.cpp$/,
    tag: /^server/,
    settings: [
      {
        meant: 'LLAMA_ARG_MODEL',
        alike: wordSet(
          'LLAMA_ARG_HF_REPO LLAMA_ARG_HF_FILE LLAMA_ARG_MODEL_URL LLAMA_ARG_DOCKER_REPO LLAMA_ARG_MODELS_DIR LLAMA_ARG_MODELS_PRESET',
        ),
        flags: [
          ...['-m', '--model', '-hf', '--hf-repo', '-hfr', '-mu', '--model-url', '--models-dir', '--models-preset'],
          ...['-dr', '--docker-repo'],
        ],
        others: wordSet(models, 'LLAMA_MODEL MODEL_FILE'),
      },
      {
        meant: 'LLAMA_ARG_N_GPU_LAYERS',
        flags: ['-ngl', '--gpu-layers', '--n-gpu-layers'],
        others: wordSet('N_GPU_LAYERS GPU_LAYERS NGL LLAMA_N_GPU_LAYERS LLAMA_ARG_NGL LLAMA_ARG_GPU_LAYERS'),
      },
      {
        meant: 'LLAMA_ARG_CTX_SIZE',
        flags: ['-c', '--ctx-size'],
        others: wordSet(
          'CTX_SIZE N_CTX CONTEXT_SIZE LLAMA_CTX_SIZE LLAMA_ARG_CTX LLAMA_ARG_N_CTX LLAMA_ARG_CONTEXT_SIZE',
        ),
      },
    ],
  },
  {
    // https://github.com/YanWenKun/ComfyUI-Docker
    server: 'This image of ComfyUI',
    repository: /(?:^|\/)yanwk\/comfyui-boot$/,
    settings: [
      {
        meant: 'CLI_ARGS',
        flags: [],
        others: wordSet('COMFYUI_ARGS COMFYUI_FLAGS COMMANDLINE_ARGS EXTRA_ARGS COMFYUI_EXTRA_ARGS'),
      },
    ],
  },
];

/** The variables of a container under names that the server of its published image does not read, and which nothing else there mentions. */
export function unreadByImage(container: Container): readonly UnreadByImage[] {
  const { env, command, args, image, at } = container;
  if (env.length === 0 || image === undefined || isTemplated(image.at) || command.length > 0) return [];
  // It may have the variable that is meant.
  if (getIn(at, 'envFrom') !== undefined) return [];
  const { repository, tag = '' } = imageParts(image.value);
  const found = images.find((one) => one.repository.test(repository) && one.tag?.test(tag) !== false);
  if (found === undefined || [at, getIn(at, 'command'), getIn(at, 'args'), getIn(at, 'env')].some(isUnseen)) return [];
  if (args.some((one) => isTemplated(one.at))) return [];
  const words = args.map(({ value }) => value);
  const texts = variableUsers(container);
  return found.settings.flatMap(({ meant, alike, flags, others }) => {
    const isNamed = env.some(({ name }) => name === meant || alike?.has(name));
    // `--gpt-oss-20b-default` chooses a model and its settings.
    const isChosen = words.some((word) => flags.includes(word.split('=', 1)[0] ?? '') || /^--.+-default$/.test(word));
    const isSet = isNamed || isChosen;
    const [first] = isSet ? [] : env.filter(({ name }) => others.has(name));
    if (first === undefined) return [];
    const { name, value, at: variable } = first;
    const isWritten = value !== undefined && value.value !== '' && !isTemplated(value.at);
    const isMentioned = texts.some((text) => text.includes(`(${name})`) || text.includes(`$${name}`));
    return isWritten && !isMentioned ? [{ server: found.server, name, meant, at: variable }] : [];
  });
}
