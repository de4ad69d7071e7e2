import { type Fields, isFields } from '../evidence/fields.ts';
import { poolsOf } from '../evidence/gpu-pools.ts';
import { readHcl } from '../evidence/hcl.ts';
import { filledDocument, filledWith, type TerraformValues } from '../evidence/terraform-values.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { lowerManifests } from '../model/manifest.ts';
import type { NodePool } from '../model/node-pool.ts';
import { checkLimits, parseYaml } from '../yaml/parse.ts';
import { plain, scalersIn, withoutIndent } from './terraform-objects.ts';

// Kubernetes objects in files of Terraform: the providers `kubectl` and `kubernetes` create them next to the cluster.

/** Objects as YAML, with references to values. `fields`: those of a `kubernetes_manifest`. */
export interface TerraformManifest {
  readonly text: string;
  readonly fields?: Fields;
}

/** The objects in a file: those in here-documents, the fields of each `kubernetes_manifest`, and autoscalers. */
export function manifestsIn(text: string): readonly TerraformManifest[] {
  const scalers = scalersIn(text, readHcl).map((scaler) => ({ text: scaler }));
  if (!/\bapiVersion\b/.test(text)) return scalers;
  const blocks = text.includes('"kubernetes_manifest"') ? readHcl(text) : [];
  return [
    ...scalers,
    ...hereDocuments(text).flatMap((document) => (document.includes('apiVersion:') ? { text: document } : [])),
    ...blocks.flatMap(({ labels, body }) => {
      const manifest = labels[0] === 'kubernetes_manifest' ? body.get('manifest') : undefined;
      return isFields(manifest) ? [{ text: JSON.stringify(plain(manifest)), fields: manifest }] : [];
    }),
  ];
}

/** Whether objects may be pools that the values of a folder complete. */
export function isPoolTemplate({ text }: TerraformManifest): boolean {
  return text.includes('${') && poolKind.test(text);
}

const poolKind = new RegExp(`\\bkind"?:[ \\t]*["']?(?:${[...kindsFor('pool')].join('|')})\\b`);

/** The pools of GPU nodes among objects, with the values of their folder. */
export function poolsWith({ text, fields }: TerraformManifest, values: TerraformValues): readonly NodePool[] {
  const filled = fields && filledWith(fields, values);
  const document = isFields(filled) ? JSON.stringify(plain(filled)) : filledDocument(text, values);
  if (checkLimits(document) !== null) return [];
  return parseYaml(document).documents.flatMap((one) => lowerManifests(one).flatMap(poolsOf));
}

/** `yaml_body = <<-YAML`, without the indentation that all lines share. */
function hereDocuments(text: string): readonly string[] {
  const found: string[] = [];
  let end: string | undefined;
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (end === undefined) {
      end = /<<-?(\w{1,64})[ \t\r]*$/.exec(line)?.[1];
      lines = [];
    } else if (line.trim() === end) {
      found.push(withoutIndent(lines));
      end = undefined;
    } else lines.push(line);
  }
  return found;
}
