import { isFields } from '../evidence/fields.ts';
import { readHcl } from '../evidence/hcl.ts';
import { plain, scalersIn, withoutIndent } from './terraform-objects.ts';

// Kubernetes objects in files of Terraform: the providers `kubectl` and `kubernetes` create them next to the cluster.

/** The objects in a file as YAML: those in here-documents, the fields of each `kubernetes_manifest`, and autoscalers. */
export function manifestTexts(text: string): readonly string[] {
  const scalers = scalersIn(text, readHcl);
  if (!/\bapiVersion\b/.test(text)) return scalers;
  const blocks = text.includes('"kubernetes_manifest"') ? readHcl(text) : [];
  return [
    ...scalers,
    ...hereDocuments(text).filter((document) => document.includes('apiVersion:')),
    ...blocks.flatMap(({ labels, body }) => {
      const manifest = labels[0] === 'kubernetes_manifest' ? body.get('manifest') : undefined;
      return isFields(manifest) ? [JSON.stringify(plain(manifest))] : [];
    }),
  ];
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
