import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { add, type Mistake, type Planters, splice } from './steps.ts';

export const planters: Planters = {
  'mig-geometry': migGeometry,
  'sharing-config': sharingConfig,
};

// Mistakes in the configuration files of the MIG manager and of the device plugin, which often stand inside of a ConfigMap.

function migGeometry({ text, document }: DocumentAnalysis): readonly Mistake[] {
  if (!/^\s*mig-configs:/m.test(text) || document.template) return [];
  return [...text.matchAll(/(mig-devices:[ \t]*\r?\n[ \t]+)(["']?)(\d+g\.\d+gb)\2: (\d+)/g)].flatMap(
    (match): readonly Mistake[] => {
      const key = match.index + (match[1]?.length ?? 0);
      const end = match.index + match[0].length;
      const quote = match[2] ?? '';
      return [
        ofText('nine of a profile', key, end, `${quote}${match[3] ?? ''}${quote}: 9`),
        ofText('a profile that no GPU has', key, end, `${quote}3g.30gb${quote}: 1`),
      ];
    },
  );
}

function sharingConfig({ text, document, manifests }: DocumentAnalysis): readonly Mistake[] {
  if (!/^\s*sharing:/m.test(text) || document.template) return [];
  const replicas = [...text.matchAll(/replicas: (\d+)/g)].flatMap((match): readonly Mistake[] => {
    const end = match.index + match[0].length;
    const value = end - (match[1]?.length ?? 0);
    return [
      ofText('one replica', value, end, '1'),
      ofText('a field that is not known', match.index, end, match[0].replace('replicas', 'replica')),
    ];
  });
  const names = [...text.matchAll(/name: (nvidia\.com\/gpu)$/gm)].map((match) => {
    const end = match.index + match[0].length;
    return ofText('another resource', end - (match[1]?.length ?? 0), end, 'amd.com/gpu');
  });
  const alone = manifests.length === 0 && text.includes('timeSlicing:') && !text.includes('mps:');
  const both: Mistake = {
    name: 'both ways to share',
    steps: [add(['sharing'], 'mps', { resources: [{ name: 'nvidia.com/gpu', replicas: 4 }] })],
    place: { path: ['sharing', 'mps'], part: 'key' },
  };
  return [...replicas, ...names, ...(alone ? [both] : [])];
}

/** A mistake whose place is known by its offset, since all before it stays as it is. */
function ofText(name: string, start: number, end: number, newText: string): Mistake {
  return { name, steps: [splice(start, end, newText)], place: { path: [], part: 'offset', offset: start } };
}
