import { longestRequest } from '../catalog/context-limits.ts';
import { imageParts } from '../catalog/images.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { tokens } from '../command/model-server.ts';
import { formatNumber } from '../cost/money.ts';
import { mayBeRendered } from '../evidence/chart-pods.ts';
import { processInput } from '../evidence/launch.ts';
import { isExempt, requestSpan } from '../evidence/requested-accelerators.ts';
import { hasRun } from '../evidence/run-status.ts';
import { llmConfigs } from '../evidence/serve-deployments.ts';
import { once } from '../model/once.ts';
import { lowerCount } from '../model/pod.ts';
import { commandsIn } from '../model/process-input.ts';
import { type ServedModel, servedModel } from '../model/served-model.ts';
import type { Container, Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { setServerFlag } from '../rewrite/server-flag.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The length of requests is above the model's own maximum.
 *
 * ## Why
 *
 * vLLM and SGLang compare `--max-model-len` or `--context-length` with the positions in the model's config.json at startup, and stop if it is
 * above them. The pod keeps restarting while it holds its GPUs. Longer requests need scaled positions (`--hf-overrides` with YaRN), which many
 * model cards describe.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=Qwen/Qwen3-8B", "--max-model-len=131072"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=Qwen/Qwen3-8B", "--max-model-len=40960"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: longer requests are rejected.
 *
 * ## When it is silent
 *
 * If positions are scaled or the check is off (`VLLM_ALLOW_LONG_MAX_MODEL_LEN`, `SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN`); for models in folders without the organization in their path, copies of
 * other organizations, other revisions, and models whose length is not certain; for servers that do not compare, such as SGLang 0.4; for templates, and if
 * other settings may be missing.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#7080](https://github.com/vllm-project/vllm/pull/7080)
 * - [vllm-project/vllm#20904](https://github.com/vllm-project/vllm/pull/20904)
 * - [sgl-project/sglang#9388](https://github.com/sgl-project/sglang/pull/9388)
 * - [Qwen3-8B: processing long texts](https://huggingface.co/Qwen/Qwen3-8B#processing-long-texts)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, context) {
    const { workload, document, report } = context;
    if (mayBeRendered(workload) || isExempt(workload) || hasRun(workload.manifest)) return;
    const served = servedModel(container, workload).model;
    if (served === null || served.context === null || served.open.length > 0 || served.inFolder !== undefined) return;
    if (served.engine !== 'vllm' && served.engine !== 'sglang') return;
    // A folder with the whole name of a model most likely has that model.
    const [, inPath] = /^\/(?:[\w.-]+\/)*?([\w-]+\/[\w.-]+)$/.exec(served.name) ?? [];
    const most = longestRequest(inPath ?? served.name);
    if (
      most === undefined ||
      served.context <= most ||
      mayStretch(container) ||
      textStretches(workload.manifest) ||
      onlyWarns(served, container)
    )
      return;
    const place = placeOf(container, served, context);
    if (place === undefined) return;
    const flag = served.engine === 'vllm' ? '--max-model-len' : '--context-length';
    report({
      message: `${tooLong(inPath ?? served.name, served.context, most, served.engine === 'vllm' ? 'vLLM' : 'SGLang')}${inPath === undefined ? '' : ' unless config.json scales it'}`,
      span: place,
      // What completes a part of an object may scale the positions, and so may the config.json in a folder.
      severity: inPath !== undefined ? 'info' : workload.partial ? 'warning' : 'error',
      fixes: () => [
        fix(
          `Set ${flag} to ${most}`,
          'unsafe',
          setServerFlag(document, container, { means: 'context-length', flag, value: String(most) }),
        ),
      ],
    });
  },
  workload({ manifest, partial }, { document, report }) {
    const { kind, root } = manifest;
    if (kind !== 'RayService' || partial || document.template || /ALLOW_LONG_MAX/.test(textOf(manifest))) return;
    for (const config of llmConfigs(root, document)) {
      const engine = getIn(config, 'engine_kwargs');
      const [length, model] = [getIn(engine, 'max_model_len'), getIn(config, 'model_loading_config')];
      const name = asText(getIn(model, 'model_source') ?? getIn(model, 'model_id')) ?? '';
      const [written, most] = [lowerCount(length, 1), longestRequest(name)];
      if (length === undefined || written === null || most === undefined || written <= most) continue;
      if (!entries(engine).some((one) => stretches.test(keyOf(one))))
        report({ message: tooLong(name, written, most, 'vLLM'), span: spanOf(length) });
    }
  },
});

function tooLong(name: string, length: number, most: number, program: string): string {
  return `${formatNumber(length)} tokens per request, but ${shorten(name, 40)} supports at most ${formatNumber(most)}: ${program} does not start`;
}

/** Words for scaled positions, for another source or form of the config, for what may set variables, and for programs that do not compare. */
const stretches =
  /(?<![a-z])rope|overrid|hf[-_]config|config[-_]format|config\.json|gguf|_ALLOW_|-revision|dynamo\.(?:sglang|trtllm)|[\s;&"'](?:source|\.)\s+[\w/$~.]/i;

/** Whether a word or a variable may scale positions, turn the check off, or name another source of the config. */
function mayStretch(container: Container): boolean {
  const { command, args, env } = processInput(container);
  const words = [...command, ...args, ...env.map(({ value }) => value ?? '')];
  return (
    words.some((word) => stretches.test(word)) ||
    // Images may read the length from a variable.
    env.some(({ name }) => stretches.test(name) || /max_model_len|context_len/i.test(name))
  );
}

/** The same of all that is written in an object, once for all its containers. */
const textStretches = once((manifest: Manifest) => stretches.test(textOf(manifest)));

function textOf({ document, root }: Manifest): string {
  return document.text.slice(root.node.span.start, root.node.span.end);
}

/** SGLang 0.4.4 to 0.5.1 writes a warning and goes on. https://github.com/sgl-project/sglang/pull/9388 */
function onlyWarns({ engine }: ServedModel, { image }: Container): boolean {
  const { tag } = imageParts(image?.value ?? '');
  return (
    engine === 'sglang' && !/^(?:latest|dev|nightly|v?0\.5\.(?:[2-9]|\d\d)|v?0\.(?:[6-9]|\d\d)|v?[1-9])/.test(tag ?? '')
  );
}

/** The flag with the length; the request for devices if a field of the workload has it. Undefined if something else sets the length. */
function placeOf(container: Container, { engine, context }: ServedModel, { document }: PodSetContext) {
  const lines = [...container.command, ...container.args];
  const flags = commandsIn(container).flatMap(({ words }) =>
    readFlags(words).filter((flag) => meaningOf(flag, 'context-length', engine) !== undefined),
  );
  const flag = flags.at(-1);
  if (flag === undefined) return lines.length > 0 ? undefined : requestSpan(container.accelerators, container);
  if (tokens(flag.value) !== context) return undefined;
  return spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
}
