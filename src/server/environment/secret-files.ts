import { readFile } from 'node:fs/promises'
import type { Setting } from '../../settings/setting.ts'
import { environmentName, names, settings } from '../../settings/settings.ts'

type Variables = Readonly<Record<string, string | undefined>>

const isSecret = (name: (typeof names)[number]): boolean =>
  (settings[name] as Setting<unknown, unknown>).isSecret === true

/** The variables whose values are secrets. */
const secretVariables: readonly string[] = [
  'DATABASE_URL',
  'OAUTH2_CACHE_REDIS_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  ...names.filter(isSecret).map(environmentName),
]

/**
 * Reads secrets from files, which Docker, Kubernetes and systemd provide: `SECRET_KEY_FILE=/run/secrets/key` sets
 * `SECRET_KEY` to the content of the file, without the line break at its end.
 * @param report called with each problem
 */
export const withSecretFiles = async (
  env: Variables,
  report: (problem: string) => void,
): Promise<Variables> => {
  const read: Record<string, string | undefined> = { ...env }
  for (const variable of secretVariables) {
    const fileVariable = `${variable}_FILE`
    const path = env[fileVariable]
    delete read[fileVariable]
    if (!path) continue
    if (env[variable]) {
      report(`${variable} and ${fileVariable} are both set. Set one of them.`)
      continue
    }
    try {
      read[variable] = (await readFile(path, 'utf8')).replace(/\r?\n$/, '')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      report(`${fileVariable}: the file cannot be read (${reason}).`)
    }
  }
  return read
}
