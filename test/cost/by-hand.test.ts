import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { defaultConfig } from '../../server/src/config.ts';
import { formatHourly } from '../../server/src/cost/money.ts';
import { noEstimateWords } from '../../server/src/cost/no-estimate-words.ts';
import { isTerraform, summarizeFile } from '../../server/src/workspace/terraform.ts';
import { configOf } from '../support/config-line.ts';

// Amounts computed by hand from the price list. The comment above each object has the arithmetic and ends with the amount. A folder is a project.

const root = 'test/fixtures/cost-by-hand';

const projects = readdirSync(root, { withFileTypes: true }).map((entry) => ({
  name: entry.name,
  files: (entry.isDirectory() ? readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }) : [''])
    .map((file) => join(root, entry.name, file))
    .filter((file) => statSync(file).isFile())
    .sort(),
}));

test.each(projects)('$name', ({ files }) => {
  const texts = files.map((file) => ({ uri: `file:///${file}`, text: readFileSync(file, 'utf8') }));
  const analysis = new Analysis({ strict: true });
  analysis.setConfig(configOf(texts.map(({ text }) => text).join('\n')));
  const manifests = texts.filter(({ uri }) => !isTerraform(uri));
  for (const { uri, text } of texts)
    if (isTerraform(uri)) analysis.workspace.set(uri, summarizeFile(uri, text, defaultConfig), 'disk');
    else analysis.setFile(uri, text);
  const costs = manifests.flatMap(({ uri, text }) => analysis.setFile(uri, text).documents.flatMap(costsOf));
  expect(costs).toEqual(manifests.flatMap(({ text }) => expectedIn(text)));
});

function costsOf({ costed, costOf }: ReturnType<Analysis['setFile']>['documents'][number]): readonly string[] {
  return costed.map((workload) => {
    const { cost, unknown } = costOf(workload);
    const amount = cost === null ? `no price (${noEstimateWords(unknown)})` : formatHourly(cost.hourly);
    return `${workload.kind}/${workload.name}: ${amount}`;
  });
}

/** `Pod/name: $2.24/h`, from the comments. */
function expectedIn(text: string): readonly string[] {
  return text.split(/^---$/m).flatMap((document) => {
    const amount = /^# .*?(?:= (\$[\d.,–$]+\/h)|(no price \(.*\)))$/m.exec(document);
    // Tasks of dstack have a type, those of SkyPilot neither, and Ray's launcher names its cluster.
    const isPipeline = /^pipelineInfo:/m.test(document);
    const other = isPipeline ? 'PipelineSpec' : /^cluster_name:/m.test(document) ? 'Cluster' : 'Task';
    const kind = /^(?:kind|type): (.*)$/m.exec(document)?.[1] ?? other;
    // An object in a wrapper is named in the comment: `of Job/inner`.
    const inner = /^# .*? of (Job\/[\w-]+):? = /m.exec(document)?.[1];
    const name = /^(?:metadata: \{|pipelineInfo: \{|cluster_)?name: ([\w-]+)/m.exec(document)?.[1];
    return amount === null ? [] : [`${inner ?? `${kind}/${name}`}: ${amount[1] ?? amount[2]}`];
  });
}
