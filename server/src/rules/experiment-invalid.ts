import { wordSet } from '../catalog/word-patterns.ts';
import { groupOf } from '../model/manifest.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A Katib Experiment that its webhook rejects, or whose trials have no metric.
 *
 * ## Why
 *
 * `parallelTrialCount` and `maxFailedTrialCount` must not exceed `maxTrialCount`. Each of the `trialParameters` refers to one of the `parameters` and is used
 * in the trial's template, and the template uses no others. Katib names the trials, so their template has no name. The metric is read from the
 * container that `primaryContainerName` names: without it, trials train on their GPUs and end without a result.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1beta1
 * kind: Experiment
 * metadata:
 *   name: search
 * spec:
 *   parallelTrialCount: 8
 *   maxTrialCount: 4
 *   trialTemplate:
 *     trialSpec:
 *       apiVersion: batch/v1
 *       kind: Job
 *       spec:
 *         template:
 *           spec:
 *             restartPolicy: Never
 *             containers:
 *               - name: main
 *                 image: registry.example/trainer:1.4
 *                 resources:
 *                   limits:
 *                     nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1beta1
 * kind: Experiment
 * metadata:
 *   name: search
 * spec:
 *   parallelTrialCount: 2
 *   maxTrialCount: 4
 *   trialTemplate:
 *     trialSpec:
 *       apiVersion: batch/v1
 *       kind: Job
 *       spec:
 *         template:
 *           spec:
 *             restartPolicy: Never
 *             containers:
 *               - name: main
 *                 image: registry.example/trainer:1.4
 *                 resources:
 *                   limits:
 *                     nvidia.com/gpu: 1
 * ```
 *
 * ## Sources
 *
 * - [Katib: validation of Experiments](https://github.com/kubeflow/katib/blob/master/pkg/webhook/v1beta1/experiment/validator/validator.go)
 * - [Katib: trials without their primary container](https://github.com/kubeflow/katib/issues/1544)
 */
export default defineRule({
  topic: 'training',
  severity: 'error',
  manifest({ kind, apiVersion, root }, { document, report }) {
    if (kind !== 'Experiment' || groupOf(apiVersion) !== 'kubeflow.org') return;
    const spec = getIn(root, 'spec');
    if (isUnseen(spec)) return;
    checkCounts(spec, report);
    const template = getIn(spec, 'trialTemplate');
    const trial = getIn(template, 'trialSpec');
    if (template === undefined || trial === undefined || [template, trial].some(isUnseen)) return;
    checkParameters(spec, template, trial, document, report);
    const named = getIn(trial, 'metadata', 'name') ?? getIn(trial, 'metadata', 'namespace');
    if (named !== undefined)
      report({
        message: `Katib names the trials: it rejects an Experiment whose trialSpec has metadata.${keyOf(named)}`,
        span: keySpanOf(named),
      });
    // Pods of other kinds have containers that are not written.
    if (!ofPods.has(asText(getIn(trial, 'kind')) ?? '')) return;
    // Trials that report their metrics themselves need no such container.
    const collector = getIn(spec, 'metricsCollectorSpec', 'collector', 'kind');
    if (isTemplated(collector) || /^(?:None|Push)$/.test(asText(collector) ?? '')) return;
    const primary = getIn(template, 'primaryContainerName');
    const name = asText(primary);
    const containers = containersIn(trial);
    if (primary === undefined || name === undefined || isTemplated(primary) || containers === undefined) return;
    if (containers.length === 0 || containers.includes(name)) return;
    report({
      severity: 'warning',
      message: `The trials have no container ${shorten(name, 40)} (${shorten(containers.join(', '), 50)}): Katib reads no metric from them`,
      span: spanOf(primary),
    });
  },
});

const ofPods = wordSet('Job PyTorchJob TFJob MPIJob XGBoostJob PaddleJob MXJob JAXJob');

function checkCounts(spec: Cursor | undefined, report: RuleContext['report']): void {
  const max = asNumber(getIn(spec, 'maxTrialCount'));
  for (const key of ['parallelTrialCount', 'maxFailedTrialCount']) {
    const at = getIn(spec, key);
    const count = asNumber(at);
    if (at === undefined || count === undefined || max === undefined || count <= max) continue;
    report({
      message: `${key} ${count} exceeds maxTrialCount ${max}: Katib rejects the Experiment`,
      span: spanOf(at),
    });
  }
}

/** Reports the first of the trial parameters that has no source or no use, or a use of one that is not declared. */
function checkParameters(
  spec: Cursor | undefined,
  template: Cursor,
  trial: Cursor,
  document: YamlDocument,
  report: RuleContext['report'],
): void {
  const [parameters, declared] = [getIn(spec, 'parameters'), getIn(template, 'trialParameters')];
  if (document.template || [parameters, declared].some(isUnseen)) return;
  const sources = new Set(items(parameters).map((one) => asText(getIn(one, 'name'))));
  const { start, end } = trial.node.span;
  // Comments may name parameters of earlier versions.
  const text = document.text.slice(start, end).replace(/(?:^|(?<=\s))#.*/gm, (comment) => ' '.repeat(comment.length));
  const used = [...text.matchAll(/\$\{trialParameters\.([^}\s]{1,80})\}/g)];
  const uses = new Set(used.map(([, name]) => name));
  const names = new Set(items(declared).map((one) => asText(getIn(one, 'name'))));
  for (const one of items(declared)) {
    const [name, reference] = [getIn(one, 'name'), getIn(one, 'reference')];
    const source = asText(reference);
    if (name === undefined || isIncomplete(one) || isTemplated(name)) continue;
    if (reference !== undefined && source !== undefined && parameters !== undefined) {
      // A reference can also be to the metadata of the trial.
      if (!source.includes('${') && !sources.has(source))
        report({
          message: `spec.parameters has no ${shorten(source, 40)}: Katib rejects the Experiment`,
          span: spanOf(reference),
        });
    }
    if (!uses.has(asText(name)))
      report({
        message: `The trialSpec does not use \${trialParameters.${shorten(asText(name) ?? '', 40)}}: Katib rejects the Experiment`,
        span: spanOf(name),
      });
  }
  const unknown = declared === undefined ? undefined : used.find(([, name = '']) => !names.has(name));
  if (unknown === undefined) return;
  const at = start + unknown.index;
  report({
    message: `${shorten(unknown[0], 50)} is not one of the trialParameters: Katib rejects the Experiment`,
    span: { start: at, end: at + unknown[0].length },
  });
}

/** The names of all containers below a trial's spec; undefined if one is unknown. */
function containersIn(trial: Cursor): readonly string[] | undefined {
  const names: string[] = [];
  const visit = (at: Cursor, depth: number): boolean => {
    if (isUnseen(at) || depth > 10) return false;
    const lists = ['containers', 'initContainers'].flatMap((key) => items(getIn(at, key)));
    for (const one of lists) {
      const name = getIn(one, 'name');
      if (isUnseen(one) || isTemplated(name)) return false;
      names.push(asText(name) ?? '');
    }
    const below = entries(at).filter((one) => one.node.kind === 'map' || isUnseen(one));
    return below.every((one) => visit(one, depth + 1));
  };
  const spec = getIn(trial, 'spec');
  return spec !== undefined && visit(spec, 0) ? names : undefined;
}
