import * as z from 'zod/mini';
import { poolSorts } from '../features/cluster/drawn.ts';
import { clusterMethods } from './cluster-protocol.ts';
import { costGroups, costReportFormats, costSorts } from './cost-protocol.ts';
import { methods } from './protocol.ts';

/** The problem of a message's parameters as a clause; undefined if they are valid or the method is not handled. */
export function problemOf(method: string, params: unknown): string | undefined {
  const result = shapes.get(method)?.safeParse(params);
  if (result === undefined || result.success) return undefined;
  const [issue] = result.error.issues;
  return `${['params', ...(issue?.path ?? [])].join('.')} is invalid`;
}

// Clients send any large number for the end of a line.
const uinteger = z.int().check(z.minimum(0));
const text = z.string();
const texts = z.array(text);
const uri = text.check(z.regex(/^[a-z][\w+.-]*:/i));
const position = z.looseObject({ line: uinteger, character: uinteger });
const range = z
  .looseObject({ start: position, end: position })
  .check(
    z.refine(
      ({ start, end }) => start.line < end.line || (start.line === end.line && start.character <= end.character),
    ),
  );
const optional = z.nullish;
const anObject = z.looseObject({});

const document = z.looseObject({ uri });
const inDocument = { textDocument: document };
const positionParams = z.looseObject({ ...inDocument, position });
const documentParams = z.looseObject(inDocument);
const place = { uri, position };
const choice = optional(text);
/** It becomes part of a page. */
const nonce = text.check(z.regex(/^[0-9a-z]{16,64}$/));
const progress = { workDoneToken: optional(z.union([text, z.number()])) };

const shapes: ReadonlyMap<string, z.ZodMiniType> = new Map<string, z.ZodMiniType>([
  [
    'initialize',
    z.looseObject({
      processId: optional(z.int().check(z.minimum(1))),
      rootUri: optional(text),
      capabilities: z.looseObject({
        workspace: optional(anObject),
        textDocument: optional(anObject),
        window: optional(anObject),
        general: optional(anObject),
      }),
      workspaceFolders: optional(z.array(document)),
    }),
  ],
  ['$/cancelRequest', z.looseObject({ id: z.union([text, z.number()]) })],
  ['$/setTrace', z.looseObject({ value: text })],
  ['window/workDoneProgress/cancel', z.looseObject({ token: z.union([text, z.number()]) })],
  [
    'textDocument/didOpen',
    z.looseObject({ textDocument: z.looseObject({ uri, languageId: text, version: z.int(), text }) }),
  ],
  [
    'textDocument/didChange',
    z.looseObject({
      textDocument: z.looseObject({ uri, version: z.int() }),
      contentChanges: z.array(z.looseObject({ range: z.optional(range), text })),
    }),
  ],
  ['textDocument/didSave', documentParams],
  ['textDocument/didClose', documentParams],
  ['textDocument/hover', positionParams],
  ['textDocument/completion', positionParams],
  ['textDocument/definition', positionParams],
  [
    'textDocument/references',
    z.looseObject({ ...inDocument, position, context: z.looseObject({ includeDeclaration: z.boolean() }) }),
  ],
  ['textDocument/codeLens', documentParams],
  ['textDocument/documentLink', documentParams],
  ['textDocument/diagnostic', z.looseObject({ ...inDocument, previousResultId: choice })],
  ['textDocument/inlayHint', z.looseObject({ ...inDocument, range })],
  [
    'textDocument/codeAction',
    z.looseObject({
      ...inDocument,
      range,
      context: z.looseObject({ diagnostics: z.array(anObject), only: optional(texts) }),
    }),
  ],
  [
    'workspace/didChangeWatchedFiles',
    z.looseObject({ changes: z.array(z.looseObject({ uri, type: z.int().check(z.minimum(1), z.maximum(3)) })) }),
  ],
  [
    'workspace/didChangeWorkspaceFolders',
    z.looseObject({ event: z.looseObject({ added: z.array(document), removed: z.array(document) }) }),
  ],
  [methods.syntaxElsewhere, z.looseObject({ languages: texts })],
  [methods.costs, document],
  [methods.costChanges, z.looseObject({ files: z.array(z.looseObject({ uri, path: text, base: z.nullable(text) })) })],
  [methods.gpus, z.looseObject({ uri: z.optional(uri), key: z.optional(text), provider: choice, region: choice })],
  [methods.migChoices, z.looseObject({ ...place, gpu: z.optional(text) })],
  [methods.fractions, z.looseObject(place)],
  [methods.rewriteToFraction, z.looseObject({ ...place, id: text })],
  [methods.rewriteToMig, z.looseObject({ ...place, gpu: text, profile: text })],
  [
    methods.setGpu,
    z.looseObject({
      uri: z.nullable(uri),
      ...{ gpu: choice, neuron: choice, tpu: choice, gaudi: choice },
      ...{ provider: choice, platform: choice, region: choice, capacity: choice },
    }),
  ],
  [methods.workspaceFixes, z.looseObject({ uris: z.array(uri) })],
  [methods.workspaceCosts, z.looseObject(progress)],
  [
    methods.costReport,
    z.looseObject({
      ...progress,
      format: z.enum(costReportFormats),
      nonce,
    }),
  ],
  [methods.costTree, z.looseObject({ ...progress, sort: z.enum(costSorts), group: z.enum(costGroups) })],
  [clusterMethods.connect, z.looseObject({ context: choice, kubeconfig: choice })],
  [clusterMethods.contexts, z.looseObject({ kubeconfig: choice })],
  [clusterMethods.nodes, z.looseObject({ pool: text })],
  [clusterMethods.usePool, z.looseObject({ ...place, pool: text })],
  [
    clusterMethods.draw,
    z.discriminatedUnion('kind', [
      z.looseObject({ kind: z.literal('tree'), parent: z.nullable(text), sort: z.enum(poolSorts), filter: text }),
      z.looseObject({ kind: z.literal('page'), nonce }),
      z.looseObject({ kind: z.enum(['markdown', 'json']) }),
      z.looseObject({ kind: z.literal('pool'), pool: text }),
    ]),
  ],
  [methods.fixWorkspace, z.looseObject({ uris: z.array(uri), rule: z.nullable(text) })],
]);
