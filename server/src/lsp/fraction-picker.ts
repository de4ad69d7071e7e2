import { type Fraction, fractionFix, fractionsOf } from '../features/actions/fractions.ts';
import { budgetOfAnswer } from '../features/actions/proof.ts';
import { type Resizable, resizableIn } from '../features/actions/resizable.ts';
import { guard } from './guard.ts';
import {
  type EditResult,
  type FractionsResult,
  methods,
  type PlaceParams,
  type RewriteToFractionParams,
} from './protocol.ts';
import type { Session } from './session.ts';
import { editsToLsp, linesOf } from './to-lsp.ts';

/** The requests behind the list of pieces of a GPU. */
export function registerFractionPicker({ connection, log, analyzed, client }: Session): void {
  connection.onRequest(
    methods.fractions,
    guard<PlaceParams, FractionsResult | null>(log, methods.fractions, null, async (params) => {
      const place = (await placeOf(params))?.place;
      if (place === undefined) return null;
      const budget = budgetOfAnswer();
      const made = fractionsOf(place).filter((one) => fractionFix(place, one, budget) !== undefined);
      const title = `${place.direction === 'less' ? 'Less than' : 'More than'} ${place.count} × ${place.gpu.name}`;
      return { title, fractions: made.map(({ id, label, description, needs }) => ({ id, label, description, needs })) };
    }),
  );

  connection.onRequest<EditResult, void>(
    methods.rewriteToFraction,
    guard<RewriteToFractionParams, EditResult>(log, methods.rewriteToFraction, failed, async (params) => {
      const found = await placeOf(params);
      if (found === undefined) return { problem: 'There is no longer a request for whole GPUs here.' };
      const one = fractionsOf(found.place).find(({ id }: Fraction) => id === params.id);
      const fix = one && fractionFix(found.place, one, budgetOfAnswer());
      if (fix === undefined) return { problem: 'This request cannot be rewritten without breaking the file.' };
      return { edit: editsToLsp(fix.edits, found.document, linesOf(found.place.file), client) };
    }),
  );

  async function placeOf({ uri, position }: PlaceParams) {
    const found = await analyzed(uri);
    if (found === undefined) return undefined;
    const offset = linesOf(found.file).fromPosition(position);
    const place: Resizable | undefined = resizableIn(found.file, { start: offset, end: offset });
    return place && { place, document: found.document };
  }
}

const failed: EditResult = { problem: 'Something went wrong. The gpulint output shows the error.' };
