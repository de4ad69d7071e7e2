import { titleOf } from '../catalog/program-records.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { repeatedLists, unfitFlags } from '../evidence/flags-of-model.ts';
import { wrongLimits } from '../evidence/launcher-limits.ts';
import { otherVariables, wrongVariables } from '../evidence/launcher-variables.ts';
import { outdatedFlags } from '../evidence/outdated-flags.ts';
import { foreignStart, isOwnEntrypoint, lackingStart, repeatedEntrypoint } from '../evidence/repeated-entrypoint.ts';
import { llmConfigs } from '../evidence/serve-deployments.ts';
import { flagConflict } from '../evidence/server-flag-relations.ts';
import { growing } from '../evidence/server-flag-values.ts';
import { quotedFlags, valueNeeded, wrongFlags } from '../evidence/server-flags.ts';
import { namesRelease, runsVllmFrom } from '../evidence/server-release.ts';
import { switchesWithValue } from '../evidence/server-switches.ts';
import { runsAsWritten, startedServers } from '../evidence/sole-server.ts';
import { unreadServerVariables } from '../evidence/unread-server-variables.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { commandsIn } from '../model/process-input.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import {
  asText,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, removeItem } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server exits because of a flag: its name is unknown, its value is invalid, or another flag that it needs is missing.
 *
 * ## Why
 *
 * Model servers stop at the first flag that they do not know, and at values out of range. The pod keeps restarting and holds its GPUs, but never serves. Most such flags are
 * misspelled, are those of another server, or are options of `docker run` (`--shm-size`), which belong before the image. The images of Triton and SGLang run their arguments
 * as a command, so flags alone are not a program; those of other servers start the server, which gets a shell in `args` as an argument. A switch takes no value:
 * `--trust-remote-code=true` is rejected. vLLM takes its settings only as flags: with a variable such as `MAX_MODEL_LEN` it starts, but uses its default (severity warning),
 * and so does Ollama with `OLLAMA_NUM_CTX`. `VLLM_PORT` is for connections between vLLM's own processes, not for its API. Some need another one: vLLM's `--enable-auto-tool-choice` a parser (and without it, a parser does nothing: severity warning),
 * llama.cpp's `--cache-type-v q8_0` flash attention, Triton's `--load-model` the control mode explicit. Newer releases of vLLM have no `--swap-space` or
 * `--disable-log-requests`, also in workers of Dynamo, and newer builds of llama.cpp need a value after `--flash-attn` (severity warning if the tag of the image is mutable, as for names of formats and
 * parsers). Some need another model: parallel experts a mixture of experts, and a parser of tool calls the family for which it is made. Limits of Text Generation Inference
 * must agree with each other, llama.cpp divides its context among its slots (severity warning), and an empty variable (`QUANTIZE: ""`) is not a value.
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
 *       args: ["--model=Qwen/Qwen3-4B", "--max-model-length=8192"]
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
 *       args: ["--model=Qwen/Qwen3-4B", "--max-model-len=8192"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the flag takes effect for the first time, or the server starts without one that it does not have.
 *
 * ## When it is silent
 *
 * For other images with their own entrypoint; for variables that the command line, a script or a settings file may use; for other flags that do not resemble a known one, because versions differ; for the beginnings of names, which the servers accept; for missing flags that a chart or the users of a ServingRuntime may add; and for templates,
 * scripts with several programs, and servers other than vLLM, SGLang, llama.cpp, Triton, TensorRT-LLM, LMDeploy, and those of Hugging Face and KServe.
 *
 * ## Sources
 *
 * - [vLLM: vllm serve](https://docs.vllm.ai/en/latest/cli/serve/)
 * - [SGLang: server arguments](https://docs.sglang.io/advanced_features/server_arguments.html)
 * - [Triton: options](https://github.com/triton-inference-server/server/blob/0299e638036b/src/command_line_parser.cc)
 * - [SGLang: PD disaggregation](https://docs.sglang.io/advanced_features/pd_disaggregation.html)
 * - [vllm-project/vllm#22072](https://github.com/vllm-project/vllm/issues/22072)
 * - [vLLM: releases without `--swap-space`](https://github.com/unslothai/unsloth-zoo/issues/1210)
 * - [llama.cpp: `--flash-attn` takes a value](https://github.com/defilantech/LLMKube/issues/147)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  container(container, context) {
    if (container.type !== 'app') return;
    reportVariables(container, context);
    if (!requestsAccelerators(context.podSet)) return;
    reportLauncher(container, context);
    const lines = [...container.command, ...container.args];
    if (lines.length === 0 || lines.some(({ at }) => isTemplated(at))) return;
    if (reportCommandInArgs(container, context)) return;
    reportRuntime(container, context);
    for (const server of startedServers(container)) {
      // The entrypoint of another image may have flags of its own.
      if (server.byImage && !isOwnEntrypoint(container.image?.value ?? '')) continue;
      if (server.command !== undefined) reportFlags(server.program, server.command.words, container, context);
    }
  },
  workload({ manifest }, { document, report }) {
    if (manifest.kind !== 'RayService' || document.template) return;
    for (const setting of llmConfigs(manifest.root, document).flatMap((one) => entries(getIn(one, 'engine_kwargs')))) {
      const value = asText(setting);
      const name = keyOf(setting);
      const mustBe = value && valueNeeded('vllm', name.replaceAll('_', '-'), value);
      if (mustBe && !isTemplated(setting))
        report({
          severity: growing.has(name.replaceAll('_', '-')) ? 'warning' : 'error',
          message: `${shorten(name, 40)} must be ${mustBe}, not ${shorten(value, 20)}: vLLM does not start`,
          span: spanOf(setting),
        });
    }
  },
});

/** The arguments for a runtime with vLLM, which passes those of the engine on: KServe's for models of Hugging Face, or KubeAI's. */
function reportRuntime(container: Container, context: PodSetContext): void {
  const { workload, document, report } = context;
  const { image, repository, command, args } = container;
  if (image !== undefined || repository !== undefined || command.length > 0 || args.length === 0) return;
  if (servedModel(container, workload).model?.engine !== 'vllm') return;
  const flags = commandsIn(container).flatMap(({ words }) => readFlags(words));
  reportUnfit(container, 'vllm', flags, context);
  for (const flag of flags) {
    const mustBe = flag.dynamic || flag.value === undefined ? undefined : valueNeeded('vllm', flag.name, flag.value);
    const span = mustBe && spanOfWords(document, args, [flag.word, flag.valueWord ?? flag.word]);
    if (mustBe === undefined || !span || !flag.word.text.startsWith('--')) continue;
    report({
      severity: growing.has(flag.name) ? 'warning' : 'error',
      message: `--${flag.written} must be ${mustBe}, not ${shorten(flag.value ?? '', 20)}: vLLM does not start`,
      span,
    });
  }
}

/** Reports what is wrong with the words of a server's command line. */
function reportFlags(program: string, words: readonly Word[], container: Container, context: PodSetContext): void {
  const { workload, document, report } = context;
  const lines = [...container.command, ...container.args];
  const title = titleOf(program);
  const flags = readFlags(words);
  const conflict = mayGetMore(container, workload) ? undefined : flagConflict(program, words, flags, container);
  const place =
    conflict && spanOfWords(document, lines, [conflict.flag.word, conflict.flag.valueWord ?? conflict.flag.word]);
  if (conflict !== undefined && place !== undefined)
    report({
      severity: conflict.result === undefined ? 'error' : 'warning',
      message: `${conflict.flag.word.text.startsWith('--') ? '--' : '-'}${conflict.flag.written} ${conflict.problem}: ${conflict.result ?? `${title} does not start`}`,
      span: place,
    });
  reportOutdated(container, program, words, context);
  reportUnfit(container, program, flags, context);
  for (const { flag, isOn, isRejected } of switchesWithValue(
    program,
    words,
    flags,
    runsVllmFrom(container, [0, 10, 0]),
  )) {
    const span = spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
    if (span === undefined) continue;
    const name = `--${shorten(flag.written, 40)}`;
    const result = isRejected ? `${title} does not start` : `some versions of ${title} do not start`;
    report({
      severity: isRejected ? 'error' : 'warning',
      message: `${name} takes no value (${shorten(flag.value ?? '', 20)}): ${result}`,
      span,
      fixes: () =>
        isOn && flag.word === flag.valueWord
          ? [fix('Remove the value', 'unsafe', rewriteWord(document, lines, flag.word, name))]
          : [],
    });
  }
  for (const { flag, plain } of runsAsWritten(workload) ? quotedFlags(program, flags) : []) {
    const word = flag.valueWord ?? flag.word;
    const span = spanOfWords(document, lines, [flag.word, word]);
    if (span === undefined) continue;
    const text = word.text.replace(flag.value ?? '', plain);
    report({
      message: `The quotes in ${shorten(flag.word === word ? word.text : `${flag.word.text} ${word.text}`, 50)} are part of the value, because no shell removes them: ${title} does not start`,
      span,
      fixes: () => [fix('Remove the quotes', 'unsafe', rewriteWord(document, lines, word, text))],
    });
  }
  for (const { flag, meant, mustBe } of wrongFlags(program, flags)) {
    const span = spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
    if (span === undefined) continue;
    const name = `${flag.word.text.startsWith('--') ? '--' : '-'}${shorten(flag.written, 40)}`;
    const isCertain = mustBe === undefined || !growing.has(flag.name) || namesRelease(container);
    report({
      severity: isCertain ? 'error' : 'warning',
      message:
        mustBe !== undefined
          ? `${name} must be ${mustBe}, not ${shorten(flag.value ?? '', 20)}: ${title} does not start`
          : `${title} has no flag ${name} and does not start; ${meant === undefined ? 'it is an option of docker run' : `did you mean --${meant}?`}`,
      span,
      fixes: () => {
        if (meant === undefined) return [];
        const text = flag.word.text.replace(flag.written, meant);
        return [fix(`Use --${meant}`, 'unsafe', rewriteWord(document, lines, flag.word, text))];
      },
    });
  }
}

/** Reports the flags of a server that its model does not suit. */
function reportUnfit(container: Container, program: string, flags: readonly Flag[], context: PodSetContext): void {
  const { workload, podSet, document, report } = context;
  const served = mayGetMore(container, workload) ? null : servedModel(container, workload).model;
  const unfit = served === null ? [] : unfitFlags(served, flags, container, podSet);
  const lines = [...container.command, ...container.args];
  for (const { flag, message, severity, value } of [...repeatedLists(program, flags), ...unfit]) {
    const word = flag.valueWord ?? flag.word;
    const span = spanOfWords(document, lines, [flag.word, word]);
    const text = value && word.text.replace(flag.value ?? '', value);
    const fixes = () => (text ? [fix(`Use ${value}`, 'unsafe', rewriteWord(document, lines, word, text))] : []);
    if (span !== undefined) report({ severity, message, span, fixes });
  }
}

/** Reports variables in the place of flags. */
function reportVariables(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const others = { flags: mayGetMore(container, workload), gpu: requestsAccelerators(podSet) };
  for (const one of runsAsWritten(workload) ? unreadServerVariables(container, others, document) : []) report(one);
}

/** Whether others may add flags: a template, other values, or those who use a ServingRuntime. */
function mayGetMore({ command, args }: Container, workload: Workload): boolean {
  const isBase = workload.role === 'definition' || groupOf(workload.apiVersion) === 'serving.kserve.io';
  return isBase || mayBeCompleted(workload) || [...command, ...args].some(({ at }) => isIncomplete(at.parent));
}

/** Arguments that repeat what the image starts by itself, or that lack what it does not start. */
function reportCommandInArgs(container: Container, { document, report }: PodSetContext): boolean {
  const { command, args, image } = container;
  const [first] = args;
  if (first === undefined || command.length > 0 || image === undefined || isTemplated(image.at)) return false;
  // A chart appends its extra arguments to a start of its own.
  if (/^(?:extra|additional)/i.test(String(first.at.parent?.step ?? ''))) return false;
  const values = args.map(({ value }) => value);
  const start = isUnseen(getIn(container.at, 'command')) ? undefined : lackingStart(image.value, values);
  if (start !== undefined) {
    const program = start.join(' ');
    report({
      message: `The image runs its arguments, and ${shorten(first.value, 30)} is not a program: the container does not start${program && `; put ${program} first`}`,
      span: spanOf(first.at),
      fixes: () =>
        start.length === 0
          ? []
          : [fix(`Run ${program}`, 'unsafe', insertKey(document, container.at, 'command', start, { after: 'image' }))],
    });
    return true;
  }
  const found = repeatedEntrypoint(image.value, values);
  if (found === undefined) return reportForeign(container, first, { document, report });
  if (typeof first.at.step !== 'number') return false;
  const rest = args.slice(0, found.words);
  report({
    message: `The image already runs ${titleOf(found.program)} and gets "${rest.map(({ value }) => value).join(' ')}" as an argument: the server does not start`,
    span: spanOf(first.at),
    fixes: () => [fix('Remove the repeated command', 'unsafe', ...rest.map(({ at }) => removeItem(document, at)))],
  });
  return true;
}

/** Arguments that the image's own server rejects, because they are those of another program. */
function reportForeign(
  { at, args, image }: Container,
  first: Container['args'][number],
  { document, report }: Pick<PodSetContext, 'document' | 'report'>,
): boolean {
  if (isUnseen(getIn(at, 'command')) || typeof first.at.step !== 'number') return false;
  const values = args.map(({ value }) => value);
  const { problem: message, isCommand } = foreignStart(image?.value ?? '', values) ?? {};
  if (message === undefined) return false;
  const title = `Run ${shorten(first.value, 30)} as the command`;
  const edits = () => [
    insertKey(document, at, 'command', [first.value], { after: 'image' }),
    removeItem(document, first.at),
  ];
  report({
    message,
    span: spanOf(first.at),
    fixes: () => (isCommand === true ? [fix(title, 'unsafe', ...edits())] : []),
  });
  return true;
}

/** Reports the variables of Text Generation Inference, which reads its flags from them. */
function reportLauncher(container: Container, { workload, document, report }: PodSetContext): void {
  if (mayGetMore(container, workload)) return;
  for (const { problem, at, words } of [...wrongVariables(container), ...wrongLimits(container)]) {
    const span = at === undefined ? words && spanOfWords(document, container, words) : spanOf(at);
    if (span !== undefined) report({ message: `${problem}: Text Generation Inference does not start`, span });
  }
  for (const { name, meant, at } of runsAsWritten(workload) ? otherVariables(container) : [])
    report({
      severity: 'warning',
      message: `Text Generation Inference does not read ${shorten(name, 40)}; did you mean ${meant}? As written, it has no effect`,
      span: getIn(at, 'name') === undefined ? keySpanOf(at) : spanOf(getIn(at, 'name') ?? at),
    });
}

/** Reports flags that the server's release does not have any more, or reads in another form. */
function reportOutdated(container: Container, program: string, words: readonly Word[], context: PodSetContext): void {
  const { document, report } = context;
  const lines = [...container.command, ...container.args];
  for (const { flag, problem, isCertain, canGo } of outdatedFlags(program, readFlags(words), container)) {
    const ofFlag = [flag.word, flag.valueWord ?? flag.word] as const;
    const span = spanOfWords(document, lines, ofFlag);
    if (span === undefined) continue;
    // Whole items of the list; parts of a script stay.
    const items = [...new Set(ofFlag)].map(({ item, start, end }) => {
      const line = lines[item];
      return start === 0 && end === line?.value.length ? line : undefined;
    });
    report({
      severity: isCertain ? 'error' : 'warning',
      message: `${problem}: ${isCertain ? 'the server' : 'with the newest image, the server'} does not start`,
      span,
      fixes: () =>
        canGo && items.every((line) => line !== undefined)
          ? [fix('Remove the flag', 'unsafe', ...items.map(({ at }) => removeItem(document, at)))]
          : [],
    });
  }
}
