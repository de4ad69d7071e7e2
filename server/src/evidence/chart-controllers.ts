import { asBoolean, asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';

/** A name of a controller that values of the common library do not have. */
export interface LostController {
  /** The value or the key with the name. */
  readonly at: Cursor;
  readonly name: string;
  /** The volume that is not mounted, or the Service without pods. */
  readonly owner: Cursor;
  readonly of: 'volume' | 'service';
  readonly known: readonly string[];
}

/** The controllers that volumes and Services name and nothing defines; once per values, for the first controller. */
export function lostControllers(controller: Cursor): readonly LostController[] {
  const controllers = controller.parent;
  if (controllers?.step !== 'controllers' || controllers.node.kind !== 'map' || isIncomplete(controllers)) return [];
  if (controllers.node.entries[0]?.value !== controller.node) return [];
  const known = entries(controllers).map(keyOf);
  if (known.some(isOpen)) return [];
  const isLost = (name: string) => !known.includes(name) && !isOpen(name);
  const values = controllers.parent;
  const volumes = entries(getIn(values, 'persistence')).filter(isEnabled);
  const services = entries(getIn(values, 'service')).filter(isEnabled);
  return [
    ...volumes.flatMap((owner) =>
      entries(getIn(owner, 'advancedMounts'))
        .filter((at) => isLost(keyOf(at)) && at.node.kind === 'map' && entries(at).length > 0)
        .map((at) => ({ at, name: keyOf(at), owner, of: 'volume' as const, known })),
    ),
    ...services.flatMap((owner) => {
      const at = getIn(owner, 'controller');
      const name = asText(at);
      if (at === undefined || name === undefined || isTemplated(at) || !isLost(name)) return [];
      return [{ at, name, owner, of: 'service' as const, known }];
    }),
  ];
}

function isEnabled(entry: Cursor): boolean {
  const enabled = getIn(entry, 'enabled');
  return enabled === undefined || (!isTemplated(enabled) && asBoolean(enabled) === true);
}

/** Whether something else writes a part of the name. */
function isOpen(name: string): boolean {
  return name === '' || /[{}$*<]/.test(name);
}

/** Whether a controller without mounts of the volume has all containers that would get them. */
export function canMount(mounts: Cursor, controller: Cursor | undefined): boolean {
  if (controller === undefined || getIn(mounts.parent, keyOf(controller)) !== undefined) return false;
  return entries(mounts).every((mount) => getIn(controller, 'containers', keyOf(mount)) !== undefined);
}
