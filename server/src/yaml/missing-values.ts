import type { MissingValue, YamlDocument, YamlNode } from './node.ts';
import { maskTemplates } from './template.ts';
import { type Helpers, includeFrom } from './template-helpers.ts';
import { readTemplate } from './template-reading.ts';

/** The places of a template at which Helm fails or prints nothing with the chart's values, and the path of the values that are missing there. */
export function missingValues(document: YamlDocument, values: YamlNode, helpers: Helpers): readonly MissingValue[] {
  const mask = document.template ? maskTemplates(document.text) : undefined;
  if (mask === undefined) return [];
  const known = { include: includeFrom(helpers, values), names: helpers.names };
  const { failed, unset } = readTemplate(mask.actions, values, document.opened, known);
  return [
    ...failed.map(({ action: { span }, path }): MissingValue => ({ span, path })),
    ...unset.map(({ action: { span }, path }): MissingValue => ({ span, path, printsNothing: true })),
  ].filter(({ span }) => span.end > 0);
}
