import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, Workload } from '../model/workload.ts';
import { asText, getIn, isTemplated, type Located } from '../yaml/cursor.ts';

/** A variable in the form of a shell among the arguments of a program, which gets its name instead of its value. */
export interface ArgumentForm {
  readonly word: Located<string>;
  /** As written: `$RATE`, `${OUT_DIR}`. */
  readonly written: string;
  readonly name: string;
  readonly start: number;
  /** It is the whole argument, or all behind the name of its flag. */
  readonly isWhole: boolean;
}

/** The variables of a container, or of its controller, that its arguments name in the form of a shell; one per argument. */
export function argumentForms(
  container: Container,
  words: readonly Located<string>[],
  workload: Workload,
): readonly ArgumentForm[] {
  const { env, command, image } = container;
  // Scripts and wrappers may expand their arguments.
  const isProgram =
    command.length === 0
      ? ownEntrypoints.test(imageParts(image?.value ?? '').repository)
      : readsArguments.has(baseName(words[0]?.value ?? '').replace(/^(python)[\d.]+$/, '$1'));
  if (!isProgram) return [];
  const added = addedBy(workload);
  return words.flatMap((word) => {
    // Anything else may be code, a pattern or the text of a template.
    if (!/^[\w.:/=@,+-]*\$(?:[\w.:/=@,+$-]|\{[A-Z_][A-Z0-9_]*\})*$/.test(word.value)) return [];
    for (const { 0: written, 1: plain, 2: name = plain ?? '', index } of word.value.matchAll(variable)) {
      const owner = env.find((one) => one.name === name);
      // A tool that fills in variables fills in all of them.
      if (owner === undefined ? !added.has(name) : isTemplated(owner.value?.at)) continue;
      const before = word.value.slice(0, index);
      const isWhole = /^(?:--?[\w-]+=)?$/.test(before) && index + written.length === word.value.length;
      return [{ word, written, name, start: index, isWhole }];
    }
    return [];
  });
}

const variable = /(?<!\$)\$(?:([A-Z_][A-Z0-9_]*)(?![\w])|\{([A-Z_][A-Z0-9_]*)\})/g;

/** The variables that a controller adds to each container. */
function addedBy({ apiVersion, kind, manifest }: Workload): ReadonlySet<string> {
  switch (`${groupOf(apiVersion)}/${kind}`) {
    case 'leaderworkerset.x-k8s.io/LeaderWorkerSet':
      return ofGroups;
    case 'jobset.x-k8s.io/JobSet':
      return ofIndexed;
    case 'batch/Job':
      return asText(getIn(manifest.root, 'spec', 'completionMode')) === 'Indexed' ? ofIndexed : none;
    case 'kubeflow.org/PyTorchJob':
      return ofPyTorch;
    default:
      return none;
  }
}

const none: ReadonlySet<string> = new Set();

/** https://github.com/kubernetes-sigs/lws/blob/47a6181f092b/api/leaderworkerset/v1/leaderworkerset_types.go, 2026-11-30 */
const ofGroups = wordSet('LWS_LEADER_ADDRESS LWS_GROUP_SIZE LWS_WORKER_INDEX');

/** https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode, 2026-11-30 */
const ofIndexed = wordSet('JOB_COMPLETION_INDEX');

/** https://github.com/kubeflow/training-operator/blob/1417bbc35b6e7840b3ecab1cec17dbf553ad9e85/pkg/controller.v1/pytorch/envvar.go */
const ofPyTorch = wordSet('MASTER_ADDR MASTER_PORT WORLD_SIZE RANK PET_NNODES PET_NPROC_PER_NODE PET_NODE_RANK');

/** Programs that take their arguments as they are. */
export const readsArguments = wordSet(
  'python torchrun accelerate deepspeed vllm text-generation-launcher text-embeddings-router llama-server tritonserver trtllm-serve sglang',
);

/** Images whose entrypoint is a server without a shell. */
const ownEntrypoints = /(?:^|\/)(?:vllm\/vllm-openai|huggingface\/text-embeddings-inference|ggml-org\/llama\.cpp)$/;
