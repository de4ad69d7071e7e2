import { nearest } from '../catalog/spelling.ts';
import { checksFields, type FormOfField, fieldOf, fieldsOf } from '../evidence/kustomization-fields.ts';
import { isJsonPatch } from '../model/kustomize/json-patch.ts';
import { leadsToItself } from '../model/kustomize/paths.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  rootCursor,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar, unquoteScalar } from '../yaml/edit.ts';
import { blockProblem, documentsInBlock } from '../yaml/embedded.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * A kustomization that kustomize cannot read.
 *
 * ## Why
 *
 * kustomize rejects a file with a field that it does not know, or with a value of another type: `resources` and the like are lists of paths, `newTag` is
 * text, `count` is a number, `literals` are `key=value`, and a patch in the file is text, so it needs `|-` if it is written as YAML. A patch that is
 * not valid YAML stops the build, and so does an operation that JSON Patch does not have, or a folder that holds the file itself.
 *
 * ```yaml invalid
 * apiVersion: kustomize.config.k8s.io/v1beta1
 * kind: Kustomization
 * resources: ../gpu-trainer
 * replicas:
 *   - name: trainer
 *     count: "3"
 * ```
 *
 * ```yaml valid
 * apiVersion: kustomize.config.k8s.io/v1beta1
 * kind: Kustomization
 * resources: [../gpu-trainer]
 * replicas:
 *   - name: trainer
 *     count: 3
 * ```
 *
 * ## When it is silent
 *
 * For templates, for fields whose names resemble none of kustomize's, and for kustomizations that neither mention accelerators nor build workloads that
 * use them. One that cannot be read, or builds nothing that can, may build such workloads.
 *
 * ## Sources
 *
 * - [Kustomize: the kustomization file](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/)
 * - [Kustomize: the type of a kustomization, of which unknown fields are rejected](https://github.com/kubernetes-sigs/kustomize/blob/master/api/types/kustomization.go)
 */
export default defineRule({
  topic: 'syntax',
  severity: 'error',
  judgesWords: true,
  document(document, context) {
    const { root, problems } = document;
    if (root?.kind !== 'map' || document.template || !isKustomization(document)) return;
    const at = rootCursor(root);
    checkPatches(at, context);
    // After an error of syntax, a value may be that of another key.
    if (problems.some(({ readable, isLocal }) => readable !== true && isLocal !== true)) return;
    checkFields(at, 'kustomization', context);
    checkCycles(at, context);
  },
});

/** Whether the document says that it is one, or is under a name that kustomize reads. */
function isKustomization({ root, kustomization }: YamlDocument): boolean {
  const at = root === null ? undefined : rootCursor(root);
  const [kind, version] = [asString(getIn(at, 'kind')), asString(getIn(at, 'apiVersion'))];
  if (kind !== undefined && kind !== 'Kustomization' && kind !== 'Component') return false;
  return version === undefined ? kustomization !== undefined : groupOf(version) === 'kustomize.config.k8s.io';
}

const rejects = 'kustomize rejects the file';

function checkFields(holder: Cursor, type: string, context: DocumentContext): void {
  if (isIncomplete(holder)) return;
  for (const entry of entries(holder)) {
    const form = fieldOf(type, keyOf(entry));
    if (form !== undefined) checkValue(entry, form, context);
    else if (checksFields(type)) checkName(entry, type, context);
  }
}

/** An unknown field that resembles one of kustomize's, or has the name of one elsewhere. */
function checkName(entry: Cursor, type: string, { document, report }: DocumentContext): void {
  const written = keyOf(entry);
  const known = otherNames[`${type}.${written}`];
  if (known === undefined && !/^[A-Za-z]\w{3,60}$/.test(written)) return;
  const meant = known ?? nearest(written, fieldsOf(type))[0];
  if (meant === undefined) return;
  const holder = entry.parent;
  const isFree = holder !== undefined && getIn(holder, meant) === undefined;
  report({
    message: `${shorten(written, 40)} is not a field of ${type === 'image' ? 'an' : 'a'} ${type}; did you mean ${meant}? ${rejects}`,
    span: keySpanOf(entry),
    fixes: () =>
      isFree ? [fix(`Rename ${shorten(written, 40)} to ${meant}`, 'unsafe', renameKey(document, entry, meant))] : [],
  });
}

/** Names from charts and manifests for what kustomize calls otherwise. */
const otherNames = table<string>({
  'image.tag': 'newTag',
  'image.version': 'newTag',
  'image.repository': 'newName',
  'image.image': 'newName',
  'replica.replicas': 'count',
  'generator.data': 'literals',
  'generator.envFile': 'envs',
  'patch.file': 'path',
});

function checkValue(at: Cursor, form: FormOfField, context: DocumentContext): void {
  const { node } = at;
  if (form.form === 'any' || isTemplated(at) || (node.kind === 'scalar' && node.value === null)) return;
  if (form.form === 'text') checkText(at, context);
  else if (form.form === 'count') checkCount(at, context);
  else if (node.kind !== (form.form === 'list' ? 'seq' : 'map')) reportType(at, form, context);
  else if (form.form === 'object') checkFields(at, form.type, context);
  else if (form.form === 'list') for (const item of items(at)) checkItem(item, at, form.of, context);
  else if (form.form === 'map') for (const entry of entries(at)) checkValue(entry, form.of, context);
}

function checkItem(item: Cursor, list: Cursor, form: FormOfField, context: DocumentContext): void {
  const { node } = item;
  const name = keyOf(list);
  if (node.kind === 'scalar' && node.value === null && node.source === '' && form.form === 'text') {
    const dash = context.document.text.lastIndexOf('-', node.span.start - 1);
    const span = dash === -1 ? node.span : { start: dash, end: dash + 1 };
    const message = `An item of ${name} is only a dash: ${rejects}; write the item, or remove the dash`;
    context.report({ message, span });
    return;
  }
  // Older versions had the paths of patches in this list.
  const isPath = name.toLowerCase() === 'patches' && node.kind === 'scalar' && typeof node.value === 'string';
  if (!isPath) checkValue(item, form, context);
}

function checkText(at: Cursor, { document, report }: DocumentContext): void {
  const { node } = at;
  if (node.kind !== 'scalar') {
    const list = at.entry === undefined ? at.parent : at;
    const isPatch = /^patch(?:esStrategicMerge)?$/i.test(list === undefined ? '' : keyOf(list));
    const advice = isPatch && !node.flow ? '; write it as a block after |-' : '';
    const what = node.kind === 'map' ? 'a mapping' : 'a list';
    report({ message: `${nameOf(at)} must be a string, not ${what}: ${rejects}${advice}`, span: placeOf(at) });
    return;
  }
  const isLiteral = at.entry === undefined && at.parent !== undefined && keyOf(at.parent) === 'literals';
  if (isLiteral && typeof node.value === 'string' && !node.value.includes('=')) {
    const [, name, value] = /^\s*([\w.-]+)\s*:\s*(.*?)\s*$/s.exec(node.value) ?? [];
    report({
      message: `An item of literals must be key=value, not ${shorten(node.value, 40)}: ${rejects}`,
      span: spanOf(at),
      fixes: () =>
        name === undefined || value === undefined
          ? []
          : [
              fix(
                `Change to ${shorten(`${name}=${value}`, 40)}`,
                'unsafe',
                replaceScalar(document, at, `${name}=${value}`),
              ),
            ],
    });
    return;
  }
  // value-not-string says so of tags.
  if (typeof node.value === 'string' || keyOf(at) === 'newTag') return;
  const written = shorten(node.source, 30);
  report({
    message: `${nameOf(at)} must be a string, not the ${typeof node.value} ${written}: ${rejects}`,
    span: spanOf(at),
    fixes: () => [fix(`Quote the value: "${written}"`, 'safe', replaceScalar(document, at, node.source))],
  });
}

function checkCount(at: Cursor, { document, report }: DocumentContext): void {
  if (at.node.kind === 'scalar' && typeof at.node.value === 'number') return;
  const text = asText(at);
  const number = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  report({
    message: `${nameOf(at)} must be a number, not ${text === undefined ? 'a list or a mapping' : `the text "${shorten(text, 30)}"`}: ${rejects}`,
    span: spanOf(at),
    fixes: () =>
      number === undefined ? [] : [fix(`Write ${number} without quotes`, 'safe', unquoteScalar(document, at, number))],
  });
}

function reportType(at: Cursor, { form }: FormOfField, { report }: DocumentContext): void {
  const { node } = at;
  const expected = form === 'list' ? 'a list' : 'a mapping';
  const found = node.kind === 'scalar' ? `"${shorten(node.source, 40)}"` : node.kind === 'map' ? 'a mapping' : 'a list';
  report({ message: `${nameOf(at)} must be ${expected}, not ${found}: ${rejects}`, span: placeOf(at) });
}

function nameOf(at: Cursor): string {
  return at.entry === undefined && at.parent !== undefined ? `An item of ${keyOf(at.parent)}` : shorten(keyOf(at), 40);
}

/** The key of a value, or the first key of an item. */
function placeOf(at: Cursor) {
  if (at.entry !== undefined) return at.node.kind === 'scalar' ? spanOf(at) : keySpanOf(at);
  const [first] = entries(at);
  return first === undefined ? spanOf(at) : keySpanOf(first);
}

/** Folders that hold this file: kustomize would read it again. */
function checkCycles(root: Cursor, { document, report }: DocumentContext): void {
  for (const item of ['resources', 'bases', 'components'].flatMap((list) => items(getIn(root, list)))) {
    const path = asString(item);
    if (path === undefined || !leadsToItself(document.kustomization, path)) continue;
    report({
      message: `${shorten(path, 60)} is the folder of this kustomization, or contains it: kustomize rejects the cycle`,
      span: spanOf(item),
    });
  }
}

/** The patches in the file that are not valid YAML, or have operations that kustomize cannot apply. */
function checkPatches(root: Cursor, { document, report }: DocumentContext): void {
  const texts = [
    ...[...items(getIn(root, 'patches')), ...items(getIn(root, 'patchesJson6902'))].map((one) => getIn(one, 'patch')),
    ...items(getIn(root, 'patchesStrategicMerge')),
  ];
  for (const text of texts) {
    if (text?.node.kind !== 'scalar' || isTemplated(text)) continue;
    const problem = blockProblem(document, text.node);
    if (problem !== undefined) report({ message: problem.message, span: problem.span });
    else for (const node of documentsInBlock(document, text.node)) checkOperations(rootCursor(node), document, report);
  }
}

/** https://www.rfc-editor.org/rfc/rfc6902 */
function checkOperations(patch: Cursor, document: YamlDocument, report: DocumentContext['report']): void {
  if (!isJsonPatch(patch.node)) return;
  for (const operation of items(patch)) {
    const [op, path] = [getIn(operation, 'op'), getIn(operation, 'path')];
    const [word, way] = [asString(op), asString(path)];
    if (op !== undefined && word !== undefined && !operations.has(word)) {
      const [meant] = nearest(word, [...operations]);
      report({
        message: `op must be one of ${[...operations].join(', ')}, not ${shorten(word, 30)}: kustomize rejects the patch`,
        span: spanOf(op),
        fixes: () => (meant === undefined ? [] : [fix(`Write ${meant}`, 'unsafe', replaceScalar(document, op, meant))]),
      });
    }
    if (path === undefined || way === undefined || way === '' || way.startsWith('/')) continue;
    report({
      message: `path must start with /, as in /${shorten(way, 50)}: kustomize does not find the field`,
      span: spanOf(path),
      fixes: () => [fix(`Write /${shorten(way, 50)}`, 'unsafe', replaceScalar(document, path, `/${way}`))],
    });
  }
}

const operations: ReadonlySet<string> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
