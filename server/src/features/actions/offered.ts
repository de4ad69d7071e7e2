import type { DocumentAnalysis } from '../../analysis.ts';
import { shorten } from '../../yaml/shorten.ts';

/** What shows that nodes offer a form of GPUs. */
export type Sign =
  | { readonly resource: string }
  | { readonly deviceClass: string }
  | { readonly label: string /** The end of the value. */; readonly end: string };

/** What the connected cluster offers; undefined without a cluster, or if not all of its nodes are known. */
export interface Offered {
  readonly is: boolean;
  readonly cluster: string;
}

export function offeredForm(
  { crossReferences }: Pick<DocumentAnalysis, 'crossReferences'>,
  sign: Sign,
): Offered | undefined {
  if ('label' in sign) {
    const live = crossReferences.liveValues(sign.label);
    return live && { is: live.values.some((value) => value.endsWith(sign.end)), cluster: shorten(live.cluster) };
  }
  const live = crossReferences.liveOffers();
  const names = 'resource' in sign ? live?.resources : live?.deviceClasses;
  if (live === undefined || names == null) return undefined;
  return { is: names.includes('resource' in sign ? sign.resource : sign.deviceClass), cluster: shorten(live.cluster) };
}
