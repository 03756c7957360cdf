import { AbilityBuilder, createMongoAbility, type MongoAbility } from '@casl/ability'
import type { RequestHandler } from 'express'
import type { Auth } from 'svc-oauth2server'
import type { StoredNote } from './notes.ts'

type Action = 'read' | 'create' | 'delete'
type Ability = MongoAbility<[Action, 'Note' | StoredNote]>

/**
 * Access control: which notes a user may do what with. It is the application's own, whoever asks by
 * whatever means: a scope says what a token may do for its user, and never more than that user may.
 */
export const abilityOf = ({ user }: Auth): Ability => {
  const { can, build } = new AbilityBuilder<Ability>(createMongoAbility)
  // A client without an owner acts for nobody, and nobody has notes.
  if (user) can(['read', 'create', 'delete'], 'Note', { owner: String(user.id) })
  return build({ detectSubjectType: () => 'Note' })
}

/** Stands after the guards of a route: refuses whoever may do so with no note at all. */
export const may =
  (action: Action): RequestHandler =>
  ({ auth }, res, next) => {
    if (abilityOf(auth).can(action, 'Note')) return next()
    res.status(403).json({ status: 403, message: `You may not ${action} notes.` })
  }
