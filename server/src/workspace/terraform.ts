import { namesMachines, terraformPools } from '../evidence/terraform-pools.ts';
import { kindsIn, namesIn } from './kinds.ts';
import { describesModel, isModelConfig, modelConfigKind, summarizeModelConfig } from './model-configs.ts';
import { type DocumentSummary, type FileSummary, type ObjectSummary, summarizeText } from './summary.ts';

type Options = Parameters<typeof summarizeText>[1];

/** A pseudo-kind for pools of nodes in files of Terraform. */
export const terraformKind = 'Terraform';

/** Whether a file is in the language of Terraform. Such files describe pools; they are never checked. */
export function isTerraform(name: string): boolean {
  return name.endsWith('.tf');
}

/** The relevant kinds in a file, found without parsing, and its names. */
export function kindsOfFile(
  name: string,
  text: string,
): { readonly kinds: ReadonlySet<string>; readonly names: ReadonlySet<string> | undefined } {
  if (isModelConfig(name)) return { kinds: new Set(describesModel(text) ? [modelConfigKind] : []), names: undefined };
  if (!isTerraform(name)) return { kinds: kindsIn(text), names: namesIn(text) };
  return { kinds: new Set(namesMachines(text) ? [terraformKind] : []), names: undefined };
}

/** The summary of a file that is not open. */
export function summarizeFile(name: string, text: string, options: Options): FileSummary {
  if (isModelConfig(name)) return summarizeModelConfig(name, text);
  return isTerraform(name) ? summarizeTerraform(text) : summarizeText(text, options);
}

function summarizeTerraform(text: string): FileSummary & DocumentSummary {
  const objects = terraformPools(text).map(({ block, pool }): ObjectSummary => {
    const facts = { type: 'pools', facts: [pool] } as const;
    return {
      group: '',
      kind: terraformKind,
      namespace: null,
      name: block,
      span: { start: 0, end: 0 },
      facts: () => facts,
    };
  });
  return { kinds: new Set([terraformKind]), objects: () => objects, references: () => [] };
}
