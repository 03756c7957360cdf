import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort, Program, runNode, temporaryFolder } from '../support/processes.ts'
import { blocksOf, readPage, root } from './markdown.ts'

/** Installs the build of the package into the folder of an application. */
const installInto = async (folder: string): Promise<void> => {
  const modules = join(folder, 'node_modules')
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await mkdir(modules)
  await symlink(root, join(modules, 'svc-oauth2server'))
  for (const name of ['express', '@types']) {
    await symlink(join(root, 'node_modules', name), join(modules, name))
  }
}

const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
}

test('the application of the README compiles, runs and guards its notes [T628]', async () => {
  await using folder = await temporaryFolder()
  await installInto(folder.path)
  const code = blocksOf(readPage('README.md')).filter(({ language }) => language === 'ts')
  expect(code.length).toBe(2)
  await writeFile(join(folder.path, 'app.ts'), code.map(({ text }) => text).join('\n'))
  await writeFile(
    join(folder.path, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['app.ts'] }),
  )
  const bin = join(root, 'node_modules/.bin')
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  await using compiler = new Program(join(bin, 'tsc'), ['-p', folder.path], { env })
  expect((await compiler.exited).code, compiler.stdout + compiler.stderr).toBe(0)

  const port = await freePort()
  const notes = `http://localhost:${port}/api/notes`
  await using app = runNode(['app.ts'], {
    cwd: folder.path,
    env: { ...env, PORT: String(port), SECRET_KEY: 'a test secret key of more than 32 bytes' },
  })
  const [, token] = await app.says(/^([A-Za-z0-9]{60})\n[A-Za-z0-9]{40} [A-Za-z0-9]{60}\n/)
  const response = await fetch(notes, { headers: { authorization: `Bearer ${token}` } })
  expect([response.status, await response.json()]).toEqual([
    200,
    [{ text: expect.stringMatching(/^A note of user \d+$/) }],
  ])
  expect((await fetch(notes)).status).toBe(401)
  expect((await fetch(`http://localhost:${port}/login`)).status).toBe(200)
})
