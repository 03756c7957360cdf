import { type AuditEvent, type AuditEventName, auditEvents } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'

/** A function of the application that receives events. */
export type AuditHook<Name extends AuditEventName> = (event: AuditEvent<Name>) => unknown

/** Calls the hooks of the application after the commit. A failing hook does not affect the request. */
export class AuditHooks {
  readonly #log: LogSink
  readonly #names: ReadonlySet<string>
  readonly #counts: { add(event: AuditEvent): void } | undefined
  readonly #hooks = new Map<AuditEventName | '*', Set<AuditHook<AuditEventName>>>()

  /**
   * @param ownEvents the events that extensions have declared
   * @param counts counts the routine events; undefined if they are stored as rows
   */
  constructor(
    log: LogSink,
    ownEvents: readonly string[] = [],
    counts?: { add(event: AuditEvent): void },
  ) {
    this.#log = log
    this.#counts = counts
    this.#names = new Set(['*', ...Object.keys(auditEvents), ...ownEvents])
  }

  get isListening(): boolean {
    return this.#hooks.size > 0
  }

  /**
   * Registers a hook, which is called after each event of this name; `*` stands for every event.
   * @returns a function that removes the hook
   * @throws TypeError for an event that does not exist
   */
  on<Name extends AuditEventName>(name: Name | '*', hook: AuditHook<Name>): () => void {
    if (!this.#names.has(name)) throw new TypeError(`There is no event ${JSON.stringify(name)}.`)
    const hooks = this.#hooks.get(name) ?? new Set()
    this.#hooks.set(name, hooks)
    // Wrap the hook, because a set would contain the same function only once.
    const own: AuditHook<AuditEventName> = (event) => hook(event as AuditEvent<Name>)
    hooks.add(own)
    return () => {
      hooks.delete(own)
      if (hooks.size === 0 && this.#hooks.get(name) === hooks) this.#hooks.delete(name)
    }
  }

  notify(event: AuditEvent): void {
    this.#counts?.add(event)
    if (!this.isListening) return
    for (const name of [event.event, '*'] as const) {
      // Call the hook later, so that the hook does not delay the response to the request that caused the event.
      for (const hook of this.#hooks.get(name) ?? [])
        setImmediate(() => void this.#run(hook, event))
    }
  }

  async #run(hook: AuditHook<AuditEventName>, event: AuditEvent): Promise<void> {
    try {
      // Pass a copy, because a hook may change the event.
      const { seal: _, ...own } = event as AuditEvent & { seal?: string }
      await hook(structuredClone(own) as AuditEvent)
    } catch (error) {
      this.#log({
        level: 'error',
        event: 'hook.failed',
        message:
          'A hook of the application failed. The request that caused the event is not affected.',
        of: event.event,
        error,
      })
    }
  }
}
