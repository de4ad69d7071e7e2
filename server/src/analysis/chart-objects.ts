import type { ProjectConfig } from '../config.ts';
import { type ChartValues, filledDocuments } from '../model/chart-templates.ts';
import { type CrossReferences, withAnswers } from '../model/cross-references.ts';
import { once } from '../model/once.ts';
import { noRelatedFiles } from '../model/related-files.ts';
import { lookupsOf } from '../workspace/lookups.ts';
import { joinSummaries, summarizeDocument } from '../workspace/summary.ts';
import { Workspace } from '../workspace/workspace.ts';

/** What the objects of a chart say about each other if a release installs it. Everything else is as without the release. */
export function amongObjects(
  chart: ChartValues,
  config: ProjectConfig,
  uri: string,
  outside: CrossReferences,
): CrossReferences {
  if (chart.templates === undefined) return outside;
  const context = { config, relatedFiles: noRelatedFiles };
  const { crossReferences: inside } = lookupsOf(workspaceOf(chart)(config), uri, () => context);
  return withAnswers(outside, {
    resolvesNames: (...asked) => inside.resolvesNames(...asked),
    limitsClients: (...asked) => inside.limitsClients(...asked),
    budgetsOf: (...asked) => inside.budgetsOf(...asked),
    configMap: (...asked) => inside.configMap(...asked),
    scalersOf: (...asked) => inside.scalersOf(...asked),
    service: (...asked) => inside.service(...asked),
    servicesOf: (...asked) => inside.servicesOf(...asked),
    volumeClaim: (...asked) => inside.volumeClaim(...asked),
    workload: (...asked) => inside.workload(...asked),
  });
}

const workspaceOf = once((chart: ChartValues) =>
  once((config: ProjectConfig) => {
    const workspace = new Workspace();
    for (const { uri, documents } of filledDocuments(chart)) {
      const parts = documents.map((document) => ({
        base: document.base,
        summary: summarizeDocument(document.text, () => document, config),
      }));
      workspace.set(uri, joinSummaries(parts), 'disk');
    }
    return workspace;
  }),
);
