import { imageParts } from '../catalog/images.ts';
import { nearest } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { forbidsOwnUser } from '../evidence/root-images.ts';
import { otherLevels } from '../evidence/security-levels.ts';
import { isSet, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A security context that contradicts itself, or has fields that only pods or only containers can have.
 *
 * ## Why
 *
 * A privileged container can always escalate its privileges, so the API server rejects `privileged: true` with `allowPrivilegeEscalation:
 * false`. A container that must not run as root but has the user 0 is accepted, and never starts (CreateContainerConfigError). The same happens
 * with an image that names no user, such as those of vLLM and Ollama, unless the platform sets one: this is **information**. A capability has
 * its name without `CAP_`: containerd gives the container none for `CAP_IPC_LOCK` (information), or for a misspelled one. In the values of
 * charts, the settings of pods (`fsGroup`) and of containers (`capabilities`) are easily confused: Helm rejects fields that Kubernetes does not
 * have there.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       securityContext:
 *         privileged: true
 *         allowPrivilegeEscalation: false
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       securityContext:
 *         allowPrivilegeEscalation: false
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the fix changes the privileges of the container.
 *
 * ## When it is silent
 *
 * For templates. For `runAsNonRoot` in projects on OpenShift, which gives each namespace its own users. In values, for a `securityContext` that may be the pod's or the container's.
 *
 * ## Sources
 *
 * - [Kubernetes: capabilities of a container](https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#set-capabilities-for-a-container)
 * - [Kubernetes: security context](https://kubernetes.io/docs/tasks/configure-pod-container/security-context/)
 * - [Kubernetes: validation of pods](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  podSet(podSet, context) {
    for (const { at, names, place, instead } of otherLevels(podSet, context.workload)) {
      const [first = '', second] = names;
      const more = names.length > 2 ? `${names.length - 1} more` : second;
      const subject = more === undefined ? `${first} belongs` : `${first} and ${more} belong`;
      context.report({
        severity: 'warning',
        message: `${subject} in ${place}, not in ${instead}: Helm rejects unknown fields`,
        span: keySpanOf(at),
      });
    }
    if (!isPodSpec(podSet, context.workload)) return;
    // The branches of a template may be alternatives.
    if (context.document.template) return;
    const shared = getIn(podSet.pod, 'shareProcessNamespace');
    if (shared !== undefined && asBoolean(shared) === true && asBoolean(getIn(podSet.pod, 'hostPID')) === true) {
      context.report({
        message: `shareProcessNamespace and hostPID must not both be true: ${rejectionOf(context.workload)}`,
        span: keySpanOf(shared),
      });
    }
    checkProfiles(getIn(podSet.pod, 'securityContext'), context);
  },
  container(container, context) {
    if (!isPodSpec(context.podSet, context.workload)) return;
    const security = getIn(container.at, 'securityContext');
    if (security === undefined && getIn(context.podSet.pod, 'securityContext') === undefined) return;
    checkEscalation(security, context);
    checkCapabilities(security, context);
    checkProfiles(security, context);
    checkRoot(container, context.podSet, context);
    checkImage(container, context);
  },
});

/** Reports an image that runs as root where root is forbidden. Nobody adds a user to a pod, except OpenShift. */
function checkImage(container: Container, { podSet, workload, document, report }: PodSetContext): void {
  if (workload.partial || workload.role === 'definition' || mayBeCompleted(workload)) return;
  const setting = forbidsOwnUser(container, podSet);
  if (setting === undefined || /openshift|opendatahub|redhat|scc/i.test(document.text)) return;
  const image = shorten(imageParts(container.image?.value ?? '').repository, 50);
  report({
    severity: 'info',
    message: `runAsNonRoot: true without runAsUser, but ${image} runs as root: it starts only if the platform sets a user, as OpenShift does`,
    span: spanOf(setting),
  });
}

function checkEscalation(security: Cursor | undefined, context: PodSetContext): void {
  const escalation = getIn(security, 'allowPrivilegeEscalation');
  if (escalation === undefined || asBoolean(escalation) !== false) return;
  const privileged = getIn(security, 'privileged');
  const allow = () =>
    fix('Set allowPrivilegeEscalation to true', 'unsafe', replaceScalar(context.document, escalation, true));
  if (privileged !== undefined && asBoolean(privileged) === true) {
    context.report({
      message: `allowPrivilegeEscalation: false contradicts privileged: true: ${rejectionOf(context.workload)}`,
      span: keySpanOf(escalation),
      fixes: () => [fix('Remove privileged', 'unsafe', removeKey(context.document, privileged)), allow()],
    });
  }
  const admin = placesAt(security, 'capabilities.add.*').find((one) => asText(one) === 'CAP_SYS_ADMIN');
  if (admin === undefined) return;
  context.report({
    message: `CAP_SYS_ADMIN contradicts allowPrivilegeEscalation: false: ${rejectionOf(context.workload)}`,
    span: spanOf(admin),
    fixes: () => [allow()],
  });
}

/** Reports capabilities in the names of Linux, which containerd does not know, and misspelled ones. */
function checkCapabilities(security: Cursor | undefined, { document, report }: PodSetContext): void {
  for (const at of placesAt(security, 'capabilities.add.*')) {
    const written = isTemplated(at) ? undefined : asText(at);
    if (written === undefined || !/^[A-Za-z_]{3,40}$/.test(written)) continue;
    const name = written.toUpperCase().replace(/^CAP_/, '');
    const meant = known.has(name) ? (written.length === name.length ? undefined : name) : nearest(name, [...known])[0];
    // CAP_SYS_ADMIN without escalation is an error of its own.
    if (meant === undefined || (known.has(name) && asBoolean(getIn(security, 'allowPrivilegeEscalation')) === false))
      continue;
    report({
      severity: known.has(name) ? 'info' : 'warning',
      message: known.has(name)
        ? `${written} must be written ${meant}: with containerd, the container does not get the capability`
        : `No capability ${shorten(written, 40)}; did you mean ${meant}? The container does not get it`,
      span: spanOf(at),
      fixes: () => [fix(`Change to ${meant}`, 'unsafe', replaceScalar(document, at, meant))],
    });
  }
}

/** https://man7.org/linux/man-pages/man7/capabilities.7.html */
const known = wordSet(
  'ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID',
  'IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW',
  'PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO',
  'SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM',
);

/** A profile of type Localhost has a name, and the other types have none. */
function checkProfiles(security: Cursor | undefined, { report, workload }: PodSetContext): void {
  for (const profile of ['seccompProfile', 'appArmorProfile'].flatMap((key) => getIn(security, key) ?? [])) {
    const type = getIn(profile, 'type');
    const name = getIn(profile, 'localhostProfile');
    const written = writtenText(type);
    if (type === undefined || written === undefined || isIncomplete(profile)) continue;
    if (written === 'Localhost' && !isSet(name)) {
      report({
        message: `${keyOf(profile)} Localhost requires localhostProfile: ${rejectionOf(workload)}`,
        span: spanOf(type),
      });
    } else if (/^(RuntimeDefault|Unconfined)$/.test(written) && isSet(name)) {
      report({
        message: `localhostProfile requires the type Localhost, not ${written}: ${rejectionOf(workload)}`,
        span: keySpanOf(name),
      });
    }
  }
}

/** The container's own settings take precedence over the pod's. */
function checkRoot({ at }: Container, { pod }: PodSet, { report, document }: PodSetContext): void {
  const own = getIn(at, 'securityContext');
  const shared = getIn(pod, 'securityContext');
  const setting = (key: string) => getIn(own, key) ?? getIn(shared, key);
  const user = setting('runAsUser');
  const nonRoot = setting('runAsNonRoot');
  if (user === undefined || nonRoot === undefined || isIncomplete(own) || isIncomplete(shared)) return;
  if (writtenNumber(user) !== 0 || asBoolean(nonRoot) !== true) return;
  report({
    message: 'runAsUser 0 contradicts runAsNonRoot: true: the container never starts',
    span: spanOf(user),
    fixes: () => [
      fix('Set runAsNonRoot to false', 'unsafe', replaceScalar(document, nonRoot, false)),
      fix('Set runAsUser to 1000', 'unsafe', replaceScalar(document, user, 1000)),
    ],
  });
}
