import { asText, type Cursor, getIn, isTemplated } from '../../yaml/cursor.ts';
import { lowerQuantity } from '../quantity.ts';
import type { ReferencedContainer } from '../referenced-pods.ts';

/**
 * The CPUs and memory of a pod of Spark. The memory has an overhead on top: the stated one, or a factor of the memory, of at least 384 MiB.
 * https://spark.apache.org/docs/latest/running-on-kubernetes.html#spark-properties (memoryOverheadFactor)
 * @param role the driver or the executor
 */
export function sparkNeeds(role: Cursor, spec: Cursor | undefined): readonly ReferencedContainer[] {
  const cores = getIn(role, 'coreRequest') ?? getIn(role, 'cores');
  const heap = jvmBytes(getIn(role, 'memory'));
  const stated = getIn(role, 'memoryOverhead');
  const factor = factorOf(spec);
  const derived = heap === null || factor === null ? null : Math.max(heap * factor, 384 * 2 ** 20);
  const overhead = stated === undefined ? derived : jvmBytes(stated);
  const memory = heap === null ? null : heap + (overhead ?? 0);
  const cpu = cores === undefined || isTemplated(cores) ? null : lowerQuantity(cores).value;
  return [
    {
      ...{ type: 'app', name: 'spark', accelerators: [] },
      needs: [
        { resource: 'cpu', request: cpu, limit: null },
        { resource: 'memory', request: memory, limit: null },
      ],
    },
  ];
}

/** The stated factor, else that of the application's language: other languages than those of the JVM need more. */
function factorOf(spec: Cursor | undefined): number | null {
  const written = getIn(spec, 'memoryOverheadFactor');
  if (written !== undefined) return isTemplated(written) ? null : (lowerQuantity(written).value ?? null);
  return /^(?:Python|R)$/.test(asText(getIn(spec, 'type')) ?? '') ? 0.4 : 0.1;
}

/** `16g`, `512m`, `2048`: as the JVM writes memory, in MiB without a unit. */
function jvmBytes(at: Cursor | undefined): number | null {
  const text = at === undefined || isTemplated(at) ? undefined : asText(at);
  const [, amount, unit = 'm'] = /^(\d{1,9})([kmgt])?i?b?$/i.exec(text ?? '') ?? [];
  const power = 'kmgt'.indexOf(unit.toLowerCase()) + 1;
  return amount === undefined ? null : Number(amount) * 2 ** (10 * power);
}
