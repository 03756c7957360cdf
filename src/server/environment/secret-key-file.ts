import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnusable } from '../../store/contract/errors.ts'

/** A key for as long as the process runs. */
export const newSecretKey = (): string => randomBytes(48).toString('base64url')

/**
 * The secret key in the data folder, made at the first start.
 * @throws StoreUnusable where the folder cannot be written
 */
export const storedSecretKey = async (folder: string): Promise<string> => {
  const file = join(folder, 'secret-key')
  try {
    await mkdir(folder, { recursive: true })
    return (await read(file)) ?? (await create(file))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(
      `The secret key file ${file} cannot be read or made (${reason}). Check the folder's owner and mode, or set SECRET_KEY.`,
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

// Written aside and linked, so that of two first starts one key wins, and nobody reads half of it.
const create = async (file: string): Promise<string> => {
  // A name of its own: in two containers that share the folder, both are process 1.
  const aside = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(aside, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(aside, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await unlink(aside)
  }
  return (await read(file)) ?? ''
}
