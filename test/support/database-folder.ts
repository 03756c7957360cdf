import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates an empty folder for the database files of a test. */
export const databaseFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'oauth2server-test-'))
