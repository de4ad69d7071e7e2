import { namesMachines, statesRegions, terraformBlocks, terraformRegions } from '../evidence/terraform-pools.ts';
import { isVariables, statesValues, terraformStatements } from '../evidence/terraform-values.ts';
import { isTerragrunt } from '../evidence/terragrunt.ts';
import type { Facts } from './facts.ts';
import { kindsIn, namesIn } from './kinds.ts';
import { describesModel, isModelConfig, modelConfigKind, summarizeModelConfig } from './model-configs.ts';
import { type DocumentSummary, type FileSummary, type ObjectSummary, summarizeText } from './summary.ts';
import { isPoolTemplate, manifestsIn } from './terraform-manifests.ts';

/** Files of Terraform have no positions. */
const nowhere = { start: 0, end: 0 };

type Options = Parameters<typeof summarizeText>[1];

/** A pseudo-kind for pools of nodes in files of Terraform. */
export const terraformKind = 'Terraform';

/** A pseudo-kind for what files of Terraform state about regions. */
export const terraformRegionKind = 'TerraformRegion';

/** A pseudo-kind for what files of Terraform state about variables. */
export const terraformValuesKind = 'TerraformValues';

/** Whether a file is in the language of Terraform, or sets its variables. Such files describe pools; they are never checked. */
export function isTerraform(name: string): boolean {
  return name.endsWith('.tf') || isVariables(name) || isTerragrunt(name);
}

/** The relevant kinds in a file, found without parsing, and its names. */
export function kindsOfFile(
  name: string,
  text: string,
): { readonly kinds: ReadonlySet<string>; readonly names: ReadonlySet<string> | undefined } {
  if (isModelConfig(name)) return { kinds: new Set(describesModel(text) ? [modelConfigKind] : []), names: undefined };
  if (!isTerraform(name)) return { kinds: kindsIn(text), names: namesIn(text) };
  return { kinds: terraformKinds(name, text), names: undefined };
}

function terraformKinds(name: string, text: string): ReadonlySet<string> {
  if (isTerragrunt(name))
    return new Set(/\b(?:locals|inputs|terraform)\b/.test(text) ? [terraformValuesKind, terraformKind] : []);
  if (isVariables(name)) return new Set([terraformValuesKind, ...(namesMachines(text) ? [terraformKind] : [])]);
  return new Set([
    ...(namesMachines(text) ? [terraformKind] : []),
    ...(statesRegions(text) ? [terraformRegionKind] : []),
    ...(statesValues(text) ? [terraformValuesKind] : []),
    ...manifestsIn(text).flatMap((manifest) => [
      ...kindsIn(manifest.text),
      ...(isPoolTemplate(manifest) ? [terraformKind] : []),
    ]),
  ]);
}

/** The summary of a file that is not open. */
export function summarizeFile(name: string, text: string, options: Options): FileSummary {
  if (isModelConfig(name)) return summarizeModelConfig(name, text);
  return isTerraform(name) ? summarizeTerraform(name, text, options) : summarizeText(text, options);
}

function summarizeTerraform(file: string, text: string, options: Options): FileSummary & DocumentSummary {
  const object = (kind: string, name: string, facts: Facts): ObjectSummary => ({
    ...{ group: '', kind, namespace: null, name, span: nowhere },
    facts: () => facts,
  });
  const kinds = terraformKinds(file, text);
  const regions = kinds.has(terraformRegionKind) ? terraformRegions(text) : [];
  const blocks = kinds.has(terraformKind) ? terraformBlocks(text, file) : [];
  const manifests = isVariables(file) || isTerragrunt(file) ? [] : manifestsIn(text);
  const values = kinds.has(terraformValuesKind) ? [terraformStatements(text, file)] : [];
  const objects = [
    ...blocks.map((facts) => object(terraformKind, facts.block, { type: 'terraform', facts })),
    ...(regions.length === 0 ? [] : [object(terraformRegionKind, '', { type: 'regions', facts: regions })]),
    ...values.map((facts) => object(terraformValuesKind, '', { type: 'values', facts })),
    ...manifests.flatMap((manifest) => {
      const isTemplate = isPoolTemplate(manifest);
      const factsOf = (one: ObjectSummary) => (isTemplate && one.facts()?.type === 'pools' ? null : one.facts());
      return [
        ...summarizeText(manifest.text, options)
          .objects()
          .map((one) => ({ ...one, span: nowhere, facts: () => factsOf(one) })),
        ...(isTemplate ? [object(terraformKind, '', { type: 'poolTemplate', facts: manifest })] : []),
      ];
    }),
  ];
  return { kinds, objects: () => objects, references: () => [] };
}
