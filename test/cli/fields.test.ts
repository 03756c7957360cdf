import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addClients } from '../../src/cli/clients.ts'
import { addTokens } from '../../src/cli/tokens.ts'
import { newClient } from '../../src/pages/forms/client.ts'
import { newPersonalToken } from '../../src/pages/forms/personal-token.ts'
import { optionOf } from './field-options.ts'

test.each([
  ['tokens', addTokens, newPersonalToken],
  ['clients', addClients, newClient],
] as const)('`%s create` has an option for every field of the form [T2704]', (group, add, form) => {
  const program = new Command()
  add(program)
  const create = program.commands
    .find((command) => command.name() === group)
    ?.commands.find((command) => command.name() === 'create')
  const options = create?.options.map(({ long }) => long?.slice(2)) ?? []
  const fields = Object.keys(form.shape)
  expect(fields.length).toBeGreaterThan(3)
  expect(fields.filter((name) => !options.includes(optionOf(name)))).toEqual([])
})
