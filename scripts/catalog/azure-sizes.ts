import type { Row } from './sources.ts';

// The GPU sizes that Azure's documentation describes, read on 2026-11-22. The gathered rows have them without a source.

type Size = readonly [name: string, vcpu: number, memoryGiB: number, gpus: number];

/** By page below articles/virtual-machines/sizes/gpu-accelerated of MicrosoftDocs/azure-compute-docs, with its commit. */
const pages: readonly (readonly [page: string, commit: string, sizes: readonly Size[]])[] = [
  [
    'nca100v4-series.md',
    '1827cf353b07',
    [
      ['Standard_NC24ads_A100_v4', 24, 220, 1],
      ['Standard_NC48ads_A100_v4', 48, 440, 2],
      ['Standard_NC96ads_A100_v4', 96, 880, 4],
    ],
  ],
  [
    'ncadsh100v5-series.md',
    '05e75b148472',
    [
      ['Standard_NC40ads_H100_v5', 40, 320, 1],
      ['Standard_NC80adis_H100_v5', 80, 640, 2],
    ],
  ],
  ['nccadsh100v5-series.md', '05e75b148472', [['Standard_NCC40ads_H100_v5', 40, 320, 1]]],
  [
    'ncast4v3-series.md',
    '2bc777fdc35c',
    [
      ['Standard_NC4as_T4_v3', 4, 28, 1],
      ['Standard_NC8as_T4_v3', 8, 56, 1],
      ['Standard_NC16as_T4_v3', 16, 110, 1],
      ['Standard_NC64as_T4_v3', 64, 440, 4],
    ],
  ],
  [
    'ncv3-series.md',
    '1827cf353b07',
    [
      ['Standard_NC6s_v3', 6, 112, 1],
      ['Standard_NC12s_v3', 12, 224, 2],
      ['Standard_NC24s_v3', 24, 448, 4],
      ['Standard_NC24rs_v3', 24, 448, 4],
    ],
  ],
  ['ndasra100v4-series.md', '99ed1c2a9eb5', [['Standard_ND96asr_v4', 96, 900, 8]]],
  ['ndma100v4-series.md', '05e75b148472', [['Standard_ND96amsr_A100_v4', 96, 1900, 8]]],
  ['nd-h200-v5-series.md', '3b74475c55ec', [['Standard_ND96isr_H200_v5', 96, 1850, 8]]],
  ['ndmi300xv5-series.md', '28da8f72862f', [['Standard_ND96isr_MI300X_v5', 96, 1850, 8]]],
  ['nd-gb200-v6-series.md', '2bc777fdc35c', [['Standard_ND128isr_NDR_GB200_v6', 128, 900, 4]]],
  [
    'nvadsa10v5-series.md',
    '2bc777fdc35c',
    [
      ['Standard_NV6ads_A10_v5', 6, 55, 1 / 6],
      ['Standard_NV12ads_A10_v5', 12, 110, 1 / 3],
      ['Standard_NV18ads_A10_v5', 18, 220, 1 / 2],
      ['Standard_NV36ads_A10_v5', 36, 440, 1],
      ['Standard_NV36adms_A10_v5', 36, 880, 1],
      ['Standard_NV72ads_A10_v5', 72, 880, 2],
    ],
  ],
];

const documented = new Map(
  pages.flatMap(([page, commit, sizes]) =>
    sizes.map(([name, vcpu, memoryGiB, gpus]) => {
      const place = `articles/virtual-machines/sizes/gpu-accelerated/${page}`;
      return [
        name,
        { vcpu, memoryGiB, gpus, source: `MicrosoftDocs/azure-compute-docs@${commit}:${place} (read 2026-11-22)` },
      ];
    }),
  ),
);

/**
 * The rows with what Azure documents, and its page as their source.
 * @throws Error if a gathered number differs from the documented one
 */
export function withAzurePages(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => {
    const size = row.provider === 'azure' ? documented.get(row.instance_type ?? '') : undefined;
    if (size === undefined) return row;
    check(row, 'vcpu', size.vcpu);
    check(row, 'memory_gib', size.memoryGiB);
    check(row, 'gpu_count', size.gpus);
    const notes = row.notes?.replace('gpu model/count, vCPU, memory unsourced', '') ?? '';
    const numbers = { vcpu: String(size.vcpu), memory_gib: String(size.memoryGiB) };
    return { ...row, ...numbers, notes, source: `${row.source} ; ${size.source}` };
  });
}

/** Fractions are gathered with four digits. */
function check(row: Row, column: string, documented: number): void {
  const gathered = row[column] ?? '';
  if (gathered === '' || Math.abs(Number(gathered) - documented) < 1e-4) return;
  throw new Error(`${row.instance_type}: ${column} is ${gathered}, but Azure documents ${documented}`);
}
