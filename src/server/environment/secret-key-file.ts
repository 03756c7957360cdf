import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnusable } from '../../store/contract/errors.ts'

/** Generates a random secret key. */
export const newSecretKey = (): string => randomBytes(48).toString('base64url')

/**
 * Returns the secret key in the data directory. Generates the key at the first start.
 * @throws StoreUnusable if the file cannot be read or created
 */
export const storedSecretKey = async (folder: string): Promise<string> => {
  const file = join(folder, 'secret-key')
  try {
    await mkdir(folder, { recursive: true })
    return (await read(file)) ?? (await create(file))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(
      `The secret key file ${file} cannot be read or created (${reason}). Check the owner and mode of the directory, or set SECRET_KEY.`,
    )
  }
}

const read = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

// Write the key to a temporary file, and create a link to this file. If two processes start concurrently, only one
// process can create the link, and readers never see a partial key.
const create = async (file: string): Promise<string> => {
  // Use a random name instead of the process ID: two containers with the process ID 1 may share the directory.
  const temporary = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(temporary, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(temporary, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await unlink(temporary)
  }
  return (await read(file)) ?? ''
}
