import type { AuthorizationServer } from 'svc-oauth2server'
import { controlled, type ServerSettings } from './control.ts'
import type { Control, Place } from './harness.ts'

/** Starts an application under a prefix, and returns its port. */
export type Start = (server: AuthorizationServer, prefix: string) => Promise<number>

/** The messages of the suite to the process of an application: first `start`, then operations of `Control`. */
export type Message =
  | { readonly name: 'start'; readonly settings: ServerSettings; readonly prefix: string }
  | { readonly name: keyof Control; readonly args: readonly unknown[] }

export interface Started {
  readonly port: number
  readonly place: Place
}

/** Runs an application as a process that the suite controls by messages. */
export const drive = (start: Start): void => {
  let control: Control | undefined
  const response = async (message: Message): Promise<unknown> => {
    if (message.name === 'start') {
      const made = await controlled(message.settings)
      control = made.control
      return { port: await start(made.server, message.prefix), place: made.place }
    }
    const operation = control?.[message.name] as (...args: unknown[]) => Promise<unknown>
    return operation(...message.args)
  }
  process.on('message', (message: Message) => {
    response(message).then(
      (value) => process.send?.({ value }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  // Exit when the parent process has exited.
  process.on('disconnect', () => process.exit())
}
