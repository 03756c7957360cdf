import { AbilityBuilder, createMongoAbility, type MongoAbility } from '@casl/ability'
import type { RequestHandler } from 'express'
import type { Auth } from 'svc-oauth2server'
import type { StoredNote } from './notes.ts'

type Action = 'read' | 'create' | 'delete'
type Ability = MongoAbility<[Action, 'Note' | StoredNote]>

/**
 * Returns what a user may do with which notes. Access control belongs to the application and applies to every kind of
 * authentication. Scopes only limit a token: it never permits more than its user may do.
 */
export const abilityOf = ({ user }: Auth): Ability => {
  const { can, build } = new AbilityBuilder<Ability>(createMongoAbility)
  // A client without an owner acts for no user, and so has no notes.
  if (user) can(['read', 'create', 'delete'], 'Note', { owner: String(user.id) })
  return build({ detectSubjectType: () => 'Note' })
}

/** Refuses callers who may not perform this action on any note. Use it after the guards of a route. */
export const may =
  (action: Action): RequestHandler =>
  ({ auth }, res, next) => {
    if (abilityOf(auth).can(action, 'Note')) return next()
    res.status(403).json({ status: 403, message: `You may not ${action} notes.` })
  }
