#!/usr/bin/env node
// Don't use static imports here, because older versions of Node cannot load the imported modules.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

// Older versions of Node support node:sqlite only with a flag, or not at all.
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `error: svc-oauth2server needs Node 22.13 or newer; this is Node ${process.versions.node}.\n`,
  )
  process.exitCode = 1
} else {
  // Ignore EPIPE: a program that reads the output, such as `head`, may exit early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const { run } = await import('./program.ts')
  process.exitCode = await run(process.argv.slice(2))
}
