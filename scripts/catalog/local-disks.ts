import type { Row } from './sources.ts';

// The local disks of GPU machines, as the pages of their clouds list them, read on 2026-11-23. AWS counts them in GB, Google Cloud in GiB. Machines
// that a page does not have are missing; 0 is "not supported".

type Disks = readonly [size: number, ...names: readonly string[]];

const pages: readonly (readonly [source: string, disks: readonly Disks[]])[] = [
  [
    'docs.aws.amazon.com/ec2/latest/instancetypes/ac.html, instance store specifications (2026-11-23)',
    [
      [0, 'dl2q.24xlarge'],
      [0, 'g5g.xlarge', 'g5g.2xlarge', 'g5g.4xlarge', 'g5g.8xlarge', 'g5g.16xlarge', 'g5g.metal'],
      [0, 'inf1.xlarge', 'inf1.2xlarge', 'inf1.6xlarge', 'inf1.24xlarge'],
      [0, 'inf2.xlarge', 'inf2.8xlarge', 'inf2.24xlarge', 'inf2.48xlarge'],
      [100, 'g6f.large', 'g6f.xlarge'],
      [125, 'g4dn.xlarge'],
      [150, 'g4ad.xlarge'],
      [200, 'g6f.2xlarge'],
      [225, 'g4dn.2xlarge', 'g4dn.4xlarge'],
      [250, 'g5.xlarge', 'g6.xlarge', 'g6e.xlarge'],
      [300, 'g4ad.2xlarge'],
      [450, 'g5.2xlarge', 'g6.2xlarge', 'g6e.2xlarge', 'g6f.4xlarge', 'gr6f.4xlarge'],
      [474, 'trn1.2xlarge'],
      [600, 'g4ad.4xlarge', 'g5.4xlarge', 'g6.4xlarge', 'g6e.4xlarge', 'gr6.4xlarge'],
      [900, 'g4dn.8xlarge', 'g4dn.12xlarge', 'g4dn.16xlarge', 'g5.8xlarge', 'g6.8xlarge', 'g6e.8xlarge', 'gr6.8xlarge'],
      [1200, 'g4ad.8xlarge'],
      [1800, 'g4dn.metal'],
      [1880, 'g6.16xlarge'],
      [1900, 'g5.16xlarge', 'g6e.16xlarge', 'g7e.2xlarge', 'g7e.4xlarge', 'g7e.8xlarge'],
      [2400, 'g4ad.16xlarge'],
      [3760, 'g6.12xlarge', 'g6.24xlarge'],
      [3800, 'g5.12xlarge', 'g5.24xlarge', 'g6e.12xlarge', 'g6e.24xlarge', 'g7e.12xlarge', 'p5.4xlarge'],
      [4000, 'dl1.24xlarge'],
      [7520, 'g6.48xlarge'],
      [7600, 'g5.48xlarge', 'g6e.48xlarge', 'g7e.24xlarge', 'trn1.32xlarge', 'trn1n.32xlarge', 'trn2.48xlarge'],
      [8000, 'p4d.24xlarge', 'p4de.24xlarge'],
      [15200, 'g7e.48xlarge'],
      [30400, 'p5.48xlarge', 'p5e.48xlarge', 'p5en.48xlarge', 'p6-b200.48xlarge', 'p6-b300.48xlarge'],
    ],
  ],
  [
    'docs.cloud.google.com/compute/docs/gpus, Local SSD (2026-11-23)',
    [
      [0, 'g4-standard-6', 'a3-edgegpu-8g-nolssd', 'a3-ultragpu-8g-nolssd'],
      [375, 'a2-ultragpu-1g', 'g2-standard-4', 'g2-standard-8', 'g2-standard-12', 'g2-standard-16', 'g2-standard-32'],
      [375, 'g4-standard-12'],
      [750, 'a2-ultragpu-2g', 'a3-highgpu-1g', 'g2-standard-24', 'g4-standard-24'],
      [1500, 'a2-ultragpu-4g', 'a3-highgpu-2g', 'g2-standard-48', 'g4-standard-48'],
      [3000, 'a2-ultragpu-8g', 'a3-highgpu-4g', 'g2-standard-96', 'g4-standard-96'],
      [6000, 'a3-highgpu-8g', 'a3-megagpu-8g', 'a3-edgegpu-8g', 'g4-standard-192'],
      [12000, 'a3-ultragpu-8g', 'a4-highgpu-8g', 'a4x-maxgpu-4g-metal', 'g4-standard-384'],
    ],
  ],
];

const known = new Map(
  pages.flatMap(([source, disks]) =>
    disks.flatMap(([size, ...names]) => names.map((name) => [name, { size: String(size), source }] as const)),
  ),
);

/** The rows with the size of the local disks, where a page has it. */
export function withLocalDisks(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => {
    const disk = known.get(row.instance_type ?? '');
    return disk === undefined ? row : { ...row, local_disk: disk.size, local_disk_source: disk.source };
  });
}
