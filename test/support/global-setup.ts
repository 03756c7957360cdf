import { startServices } from './services.ts'

/** Runs once before all test files. The workers inherit the URLs of the services and the folder for temporary files. */
export const setup = async (): Promise<() => Promise<void>> => {
  const { env, stop } = await startServices({ hasRunFolder: true })
  const before = { ...process.env }
  Object.assign(process.env, env)
  return async () => {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
    await stop()
  }
}
