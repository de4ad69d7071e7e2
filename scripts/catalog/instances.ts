import { byText, type CommitDates, clean, dateOf, number, type Row, SourceTable } from './sources.ts';

/** A name that is valid as a label value; 'HGX H100' and 'n1 + 1 x nvidia-tesla-t4' are not. */
const labelValue = /^[A-Za-z0-9][\w.-]*$/;

export function instanceFile(
  rows: readonly Row[],
  prices: readonly Row[],
  gpus: ReadonlyMap<string, string>,
  dates: CommitDates,
) {
  const sources = new SourceTable();
  const key = (row: Row) => `${row.provider} ${row.instance_type}`;
  const shaped = new Set(rows.map(key));
  // Types that appear only in price tables: their GPUs are known, their CPU and memory are not.
  const pricedOnly = new Map(
    prices
      .filter((row) => !shaped.has(key(row)) && labelValue.test(row.instance_type ?? ''))
      .map((row) => [key(row), row]),
  );
  const all = [...rows.filter((row) => !row.instance_type?.includes(' + ')), ...pricedOnly.values()];
  const instances = all.sort((a, b) => byText(key(a), key(b))).map(record);
  const columns = Object.keys(instances.find((instance) => 'localDisk' in instance) ?? {});
  return { sources: sources.toJSON(), columns, instances: instances.map((instance) => Object.values(instance)) };

  function record(row: Row) {
    const source = clean(row.source ?? '');
    const { local_disk: localDisk, local_disk_source: diskSource = '' } = row;
    return {
      provider: row.provider,
      name: row.instance_type,
      gpu: gpus.get(row.gpu_model ?? '') ?? null,
      gpuCount: number(row.gpu_count),
      vcpu: number(row.vcpu),
      memoryGiB: number(row.memory_gib),
      rdma: rdma(row.rdma),
      rdmaDevices: number(row.rdma_devices),
      unsourced: unsourced(row, source),
      date: row.price_date || dateOf(source, dates),
      source: sources.refer(localDisk === undefined ? source : `${source}; ${diskSource}`),
      ...(localDisk !== undefined && { localDisk: number(localDisk) }),
    };
  }
}

function rdma(text: string | undefined): string | null {
  return text === undefined || text === '' || text === 'no' ? null : text.replace(' (unsourced)', '');
}

function unsourced(row: Row, source: string): readonly string[] {
  if (source === 'unsourced') return ['all'];
  const fields: string[] = [];
  const notes = row.notes ?? '';
  if (notes.includes('gpu model/count, vCPU, memory unsourced')) fields.push('gpu', 'gpuCount', 'vcpu', 'memoryGiB');
  else if (notes.includes('specs unsourced'))
    fields.push('gpu', 'gpuCount', 'vcpu', 'memoryGiB', 'rdma', 'rdmaDevices');
  if (row.rdma?.includes('(unsourced)')) fields.push('rdma');
  return fields;
}
