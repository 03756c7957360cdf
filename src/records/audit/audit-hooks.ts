import { type AuditEvent, type AuditEventName, auditEvents } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'

/** Code of the application that hears of an event. */
export type AuditHook<Name extends AuditEventName> = (event: AuditEvent<Name>) => unknown

/** What an application hears of: told after the commit, waited for by nobody, and with no way to fail a request. */
export class AuditHooks {
  readonly #log: LogSink
  readonly #names: ReadonlySet<string>
  readonly #hooks = new Map<AuditEventName | '*', Set<AuditHook<AuditEventName>>>()

  /** @param ownEvents the events that extensions have declared */
  constructor(log: LogSink, ownEvents: readonly string[] = []) {
    this.#log = log
    this.#names = new Set(['*', ...Object.keys(auditEvents), ...ownEvents])
  }

  get isListening(): boolean {
    return this.#hooks.size > 0
  }

  /**
   * Calls the hook after each such event; `*` stands for every event.
   * @returns what ends that
   * @throws TypeError for an event that does not exist
   */
  on<Name extends AuditEventName>(name: Name | '*', hook: AuditHook<Name>): () => void {
    if (!this.#names.has(name)) throw new TypeError(`There is no event ${JSON.stringify(name)}.`)
    const hooks = this.#hooks.get(name) ?? new Set()
    this.#hooks.set(name, hooks)
    // A set has a function once: each call of `on` counts for itself.
    const own: AuditHook<AuditEventName> = (event) => hook(event as AuditEvent<Name>)
    hooks.add(own)
    return () => {
      hooks.delete(own)
      if (hooks.size === 0 && this.#hooks.get(name) === hooks) this.#hooks.delete(name)
    }
  }

  notify(event: AuditEvent): void {
    if (!this.isListening) return
    for (const name of [event.event, '*'] as const) {
      // Later, since the request that caused the event may still be waiting for its answer.
      for (const hook of this.#hooks.get(name) ?? [])
        setImmediate(() => void this.#run(hook, event))
    }
  }

  async #run(hook: AuditHook<AuditEventName>, event: AuditEvent): Promise<void> {
    try {
      // A copy of its own: what a hook does to it, no other sees.
      const { seal: _, ...told } = event as AuditEvent & { seal?: string }
      await hook(structuredClone(told) as AuditEvent)
    } catch (error) {
      this.#log({
        level: 'error',
        event: 'hook.failed',
        message: 'A hook of the application failed; what it was told of is done all the same.',
        of: event.event,
        error,
      })
    }
  }
}
