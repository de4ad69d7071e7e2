import { type ChartValues, chartValues } from '../model/chart-templates.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { mergeStrategic } from '../model/kustomize/merge.ts';
import { once } from '../model/once.ts';
import { noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import type { YamlMap } from '../yaml/node.ts';
import { helpersIn } from '../yaml/template-helpers.ts';

// The values with which the templates of a chart are read: the same objects as long as the files are the same.

/** All templates of a chart have the same values and helpers. */
export const chartIn = once(({ text }: SourceFile) => withHelpers(chartValues('values.yaml', text)));

/** The same for a part of another chart, whose values for the part take precedence. */
export const partIn = once(({ text }: SourceFile) =>
  once((around: YamlMap) => {
    const chart = chartValues('values.yaml', text);
    return withHelpers(chart && { ...chart, root: mergeStrategic(chart.root, around, false) });
  }),
);

/** The same for a part that another chart has under several aliases. */
export const copiesIn = once(({ text }: SourceFile) =>
  once((copies: readonly YamlMap[]) => {
    const chart = chartValues('values.yaml', text);
    const [root, ...others] = copies.flatMap((around) => (chart ? mergeStrategic(chart.root, around, false) : []));
    return withHelpers(chart && root && { ...chart, root, copies: others });
  }),
);

function withHelpers(chart: ChartValues | undefined): (file: SourceFile | undefined) => RelatedFiles {
  const alone: RelatedFiles = chart === undefined ? noRelatedFiles : { chart };
  const complete = once((file: SourceFile): RelatedFiles => {
    const helpers = helpersIn(file);
    return chart === undefined || helpers.bodies.size === 0 ? alone : { chart: { ...chart, helpers } };
  });
  return (file) => (file === undefined ? alone : complete(file));
}
