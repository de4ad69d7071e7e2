import type { WorkspaceEdit } from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import { type ClaimedGpu, claimedIn, claimFix, claimFractions } from '../features/actions/claimed.ts';
import type { Fraction } from '../features/actions/fraction.ts';
import { fractionFix, fractionsOf } from '../features/actions/fractions.ts';
import { budgetOfAnswer } from '../features/actions/proof.ts';
import { resizableIn, type Sized } from '../features/actions/resizable.ts';
import { objectNamed } from '../workspace/named.ts';
import { shorten } from '../yaml/shorten.ts';
import type { ConfinedHost } from './confined-host.ts';
import { failedWords, guard } from './guard.ts';
import { linesOf } from './line-index.ts';
import {
  type EditResult,
  type FractionsResult,
  methods,
  type PlaceParams,
  type RewriteToFractionParams,
} from './protocol.ts';
import type { Session } from './session.ts';
import { editsToLsp } from './to-lsp.ts';

/** The requests behind the list of parts of a GPU. */
export function registerFractionPicker(session: Session, host: ConfinedHost): void {
  const { connection, log, analyzed, projects, documents } = session;

  connection.onRequest(
    methods.fractions,
    guard<PlaceParams, FractionsResult | null>(log, methods.fractions, null, async (params) => {
      const found = await analyzedAt(params);
      if (found === undefined) return null;
      const { file, offset } = found;
      const budget = budgetOfAnswer();
      const place = resizableIn(file, { start: offset, end: offset });
      if (place !== undefined) {
        const made = fractionsOf(place).filter((one) => fractionFix(place, one, budget) !== undefined);
        const from = place.part === null ? `${place.count} × ${place.gpu.name}` : place.part.label;
        return listOf(place, from, made);
      }
      const claimed = claimedIn(file, { start: offset, end: offset });
      const holder = claimed && (await fileOfClaim(claimed));
      if (claimed === undefined || holder === undefined) return null;
      const made = claimFractions(claimed).filter(({ id }) => claimFix(claimed, id, holder.file, budget) !== undefined);
      return listOf(claimed, claimed.part?.label ?? `1 × ${claimed.gpu.name}`, made);
    }),
  );

  connection.onRequest<EditResult, void>(
    methods.rewriteToFraction,
    guard<RewriteToFractionParams, EditResult>(log, methods.rewriteToFraction, failed, async (params) => {
      const found = await analyzedAt(params);
      if (found === undefined) return gone;
      const { file, offset, document } = found;
      const place = resizableIn(file, { start: offset, end: offset });
      if (place !== undefined) {
        const one = fractionsOf(place).find(({ id }: Fraction) => id === params.id);
        const fix = one && fractionFix(place, one, budgetOfAnswer());
        return fix === undefined ? broken : { edit: editsToLsp(fix.edits, document, linesOf(file), session.client) };
      }
      const claimed = claimedIn(file, { start: offset, end: offset });
      const holder = claimed && (await fileOfClaim(claimed));
      if (claimed === undefined || holder === undefined) return gone;
      const fix = claimFix(claimed, params.id, holder.file, budgetOfAnswer());
      if (fix === undefined) return broken;
      const { kind, name } = claimed.claim;
      const { title, inClaim, inPod } = fix;
      if (holder.file === file)
        return { edit: editsToLsp([...inClaim, ...inPod], holder, linesOf(file), session.client, { title }) };
      const why = { title, confirm: `Changes ${kind} ${name}` };
      const edit = editsToLsp(inClaim, holder, linesOf(holder.file), session.client, why);
      const own = inPod.length === 0 ? {} : editsToLsp(inPod, document, linesOf(file), session.client);
      return { edit: bothEdits(edit, own) };
    }),
  );

  async function analyzedAt({ uri, position }: PlaceParams) {
    const found = await analyzed(uri);
    return found && { ...found, offset: linesOf(found.file).fromPosition(position) };
  }

  /** The file that has the claim: the pod's own, or the nearest one of the workspace; undefined if several are equally near. */
  async function fileOfClaim({ file, claim: { kind, namespace, name } }: ClaimedGpu): Promise<Holder | undefined> {
    const { workspace } = projects.analysis;
    const place = workspace.file(file.uri);
    const found =
      place === undefined ? [] : objectNamed(workspace, place, [`resource.k8s.io/${kind}`], namespace, name);
    const [nearest, ...others] = found;
    if (nearest === undefined || others.length > 0) return undefined;
    const open = documents.get(nearest.uri);
    if (open !== undefined) {
      const own = await analyzed(nearest.uri);
      return own && { file: own.file, uri: nearest.uri, version: own.document.version };
    }
    const text = await host.readFile(nearest.uri);
    if (text === undefined || (await projects.isIgnored(nearest.uri))) return undefined;
    const config = await projects.configOf(nearest.uri);
    return { file: projects.analysis.peek(nearest.uri, text, config), uri: nearest.uri, version: null };
  }
}

interface Holder {
  readonly file: FileAnalysis;
  readonly uri: string;
  readonly version: number | null;
}

function listOf(
  { direction, estimate }: Sized,
  from: string,
  fractions: readonly Omit<Fraction, 'edits'>[],
): FractionsResult {
  const title = `${direction === 'less' ? 'Less than' : 'More than'} ${from} for ${shorten(estimate.name, 40)}`;
  return {
    title,
    fractions: fractions.map(({ id, label, description, needs }) => ({ id, label, description, needs })),
  };
}

/** The edits of two files as one. */
function bothEdits(first: WorkspaceEdit, second: WorkspaceEdit): WorkspaceEdit {
  const { changes, documentChanges } = first;
  return {
    ...first,
    ...(changes && { changes: { ...changes, ...second.changes } }),
    ...(documentChanges && { documentChanges: [...documentChanges, ...(second.documentChanges ?? [])] }),
  };
}

const failed: EditResult = { problem: failedWords };
const gone: EditResult = { problem: 'This GPU request no longer exists.' };
const broken: EditResult = { problem: 'This request cannot be rewritten without breaking the file.' };
