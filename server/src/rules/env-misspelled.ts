import { meantVariable } from '../catalog/variable-names.ts';
import type { SimpleCommand } from '../command/shell.ts';
import { isFirstWith } from '../evidence/config-variables.ts';
import { usesGpu } from '../evidence/gpu-users.ts';
import { placeOfConfigVariable } from '../model/config-env.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import { getIn, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The name of a well-known environment variable is misspelled.
 *
 * ## Why
 *
 * No program rejects a variable that it does not know. NCCL then selects its own network interface, CUDA shows all GPUs, and a token or a
 * cache directory is missing, often without a message.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: NCCL_SOCKET_INFAME
 *           value: eth0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: NCCL_SOCKET_IFNAME
 *           value: eth0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the setting takes effect.
 *
 * ## When it is silent
 *
 * For containers without accelerators, if the command or a mounted script also contains the name, if the correct name is also set, and for
 * names that may be those of other settings (`HF_TOKENS`).
 *
 * ## Sources
 *
 * - [NCCL: environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
 * - [Hugging Face Hub: environment variables](https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables)
 * - [PyTorch: torch.distributed](https://docs.pytorch.org/docs/stable/distributed.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  judgesWords: true,
  container(container, { workload, podSet, document, report }) {
    if (workload.role === 'infrastructure' || !usesGpu(container, podSet)) return;
    for (const { name, at } of container.env) {
      const meant = meantVariable(name);
      if (meant === undefined || isTemplated(at) || isUsed(name, meant, container)) continue;
      const written = getIn(at, 'name');
      // Chart values may map names to values.
      const isKey = written === undefined && at.step === name;
      if (written === undefined && !isKey) continue;
      report({
        message: misspelled(name, meant),
        span: written === undefined ? keySpanOf(at) : spanOf(written),
        fixes: () => {
          const edits =
            written === undefined ? renameKey(document, at, meant) : replaceScalar(document, written, meant);
          return [fix(`Rename to ${meant}`, 'unsafe', edits)];
        },
      });
    }
    reportConfigMaps(container, workload, report);
    reportScripts(container, { document, report });
  },
});

/** Reports variables of the ConfigMaps that `envFrom` names. */
function reportConfigMaps(container: Container, workload: Workload, report: PodSetContext['report']): void {
  const { env, configEnv = [] } = container;
  if (configEnv.length > maxVariables) return;
  const slips = configEnv.flatMap((variable) => {
    const meant = meantVariable(variable.name);
    return meant === undefined ? [] : [{ variable, meant }];
  });
  if (slips.length === 0) return;
  const names = new Set([...env, ...configEnv].map(({ name }) => name));
  const own = new Set(env.map(({ name }) => name));
  const values = configEnv.map(({ value }) => value).join('\n');
  for (const { variable, meant } of slips) {
    const { name } = variable;
    if (own.has(name) || names.has(meant) || values.includes(name) || isUsed(name, meant, container)) continue;
    const at = isFirstWith(variable, container, workload) ? placeOfConfigVariable(container, variable) : undefined;
    if (at === undefined) continue;
    report({
      message: `This ConfigMap sets ${name}, which is not a documented variable; did you mean ${meant}?`,
      span: spanOf(at),
    });
  }
}

/** A program's settings are fewer. */
const maxVariables = 300;

function misspelled(name: string, meant: string): string {
  return `${name} is not a documented variable; did you mean ${meant}? As written, it has no effect`;
}

/** Reports variables that a script sets for its programs and does not read itself. */
function reportScripts(container: Container, { document, report }: Pick<PodSetContext, 'document' | 'report'>): void {
  const { command, args, env, scripts } = container;
  const lines = [...command, ...args];
  if (!lines.some(({ value }) => /[A-Z]_\w+=/.test(value)) || lines.some(({ at }) => isTemplated(at))) return;
  const texts = [...lines, ...env.flatMap(({ value }) => value ?? [])].map(({ value }) => value);
  const all = [...texts, ...scripts.map(({ text }) => text)].join('\n');
  for (const word of commandsIn(container).flatMap(settingWords)) {
    const name = word.text.slice(0, word.text.indexOf('='));
    const meant = meantVariable(name);
    if (meant === undefined || word.derived) continue;
    const isElsewhere = all.split(name).length > 2 || all.includes(meant) || env.some((one) => one.name === meant);
    const span = isElsewhere ? undefined : spanOfWords(document, lines, [word, word]);
    if (span === undefined) continue;
    report({
      message: misspelled(name, meant),
      span: { start: span.start, end: Math.min(span.end, span.start + name.length) },
      fixes: () => [
        fix(`Rename to ${meant}`, 'unsafe', rewriteWord(document, lines, word, word.text.replace(name, meant))),
      ],
    });
  }
}

/** The words that set variables for a command or the ones after it: `NAME=1 serve`, `export NAME=1`, `env NAME=1 serve`, `mpirun -x NAME=1`. */
function settingWords({ words, assignments }: SimpleCommand): SimpleCommand['words'] {
  const [program, ...rest] = words;
  // A plain assignment stays in the shell.
  if (program === undefined) return [];
  const sets = /^(?:export|declare|typeset|env|(?:\S*\/)?mpi(?:run|exec))$/.test(program.text);
  return [...assignments, ...(sets ? rest.filter(({ text }) => /^[A-Z]\w*=/.test(text)) : [])];
}

/** Whether a command or a script uses the name itself, or the correct name is also set. */
function isUsed(name: string, meant: string, { env, command, args, scripts }: Container): boolean {
  return (
    env.some((other) => other.name === meant || other.value?.value.includes(name)) ||
    [...command, ...args].some(({ value }) => value.includes(name)) ||
    scripts.some(({ text }) => text.includes(name))
  );
}
