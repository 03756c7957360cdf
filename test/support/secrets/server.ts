// Replaces the module `svc-oauth2server` in tests. Searches the log and the errors of each server for secrets.

import { createAuthorizationServer as create } from '../../../src/server/create-authorization-server.ts'
import { logToStderr } from '../../../src/server/telemetry/log-to.ts'
import { secretNet } from './net.ts'

export * from '../../../src/index.ts'

export const createAuthorizationServer: typeof create = async (options) => {
  const net = secretNet()
  const sink = options.log === undefined ? logToStderr() : options.log
  const tapped: typeof sink = (entry) => {
    net.addText('the log', entry)
    return sink(entry)
  }
  // The server refuses a log that is not a function.
  const log = typeof sink === 'function' ? tapped : sink
  const failed = (error: unknown): never => {
    net.addText('an error', error)
    throw error
  }
  const server = await create({ ...options, log }).catch(failed)
  for (const records of Object.values(server)) tapErrors(records, failed)
  return server
}

/** Wraps the methods of an object, and passes their errors to `failed`. */
const tapErrors = (records: unknown, failed: (error: unknown) => never): void => {
  if (typeof records !== 'object' || records === null) return
  const prototype: object = Object.getPrototypeOf(records) ?? {}
  if (prototype === Object.prototype || prototype === Array.prototype) return
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method = Object.getOwnPropertyDescriptor(prototype, name)?.value
    if (name === 'constructor' || typeof method !== 'function') continue
    const tapped = (...given: unknown[]): unknown => {
      try {
        const result: unknown = method.apply(records, given)
        return result instanceof Promise ? result.catch(failed) : result
      } catch (error) {
        return failed(error)
      }
    }
    Object.defineProperty(records, name, { value: tapped, configurable: true, writable: true })
  }
}
