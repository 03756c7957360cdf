import { z } from 'zod'
import { maxPasswordBytes, minPasswordLength } from '../../model/field-rules.ts'
import { formText } from './form-fields.ts'
import { nameShapes } from './shape.ts'

export const passwordRules = z.strictObject({
  min_length: z.int().describe('The minimum length of a password, in characters.'),
})

export const passwordChange = z.looseObject({
  current_password: formText,
  new_password: formText
    .meta({ minLength: minPasswordLength })
    .describe(`At most ${maxPasswordBytes} bytes.`),
})

nameShapes({
  PasswordRules: passwordRules,
  PasswordChange: passwordChange,
})
