import type { Container, Workload } from '../model/workload.ts';
import { asBoolean, type Cursor, getIn } from '../yaml/cursor.ts';
import { hasAllContainers } from './chart-pods.ts';

/** The probes of a container, with the fields of Kubernetes. */
export type Probes = Readonly<Record<'startup' | 'liveness' | 'readiness', Cursor | undefined>>;

/**
 * The probes of a container, which app-template has under `probes`: with `custom: true` they have the fields of Kubernetes, and without
 * `enabled: true` they are off.
 * https://github.com/bjw-s-labs/helm-charts/blob/main/charts/library/common/templates/lib/container/fields/_probes.tpl
 */
export function probesOf({ at }: Container, workload: Workload): Probes {
  const probe = (type: string) => {
    if (!hasAllContainers(workload)) return getIn(at, `${type}Probe`);
    const written = getIn(at, 'probes', type);
    const isOff = written === undefined || asBoolean(getIn(written, 'enabled')) === false;
    // The chart fills in the other forms.
    const isOwn = asBoolean(getIn(written, 'enabled')) === true && asBoolean(getIn(written, 'custom')) === true;
    return isOff ? undefined : isOwn ? getIn(written, 'spec') : written;
  };
  return { startup: probe('startup'), liveness: probe('liveness'), readiness: probe('readiness') };
}
