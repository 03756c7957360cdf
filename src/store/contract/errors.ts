/**
 * The store cannot be reached or cannot write. It answers 503 everywhere and is never mistaken for a
 * verdict on a credential.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A value that must be unique is taken. Random values are simply drawn again. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** What a row was to hang from is gone: deleted, or under another id, since it was read. */
export class ReferenceNotFound extends Error {
  override readonly name = 'ReferenceNotFound'
}

/** Users that belong to the application are created, changed and deleted by the application. */
export class NotOurUsers extends Error {
  override readonly name = 'NotOurUsers'
  constructor() {
    super(
      'The users belong to the application: change them there, and call users.deleted(id) after a deletion.',
    )
  }
}

/** The store is there, but not one that this version can use. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable'
}

/** A newer version has migrated the store: this one can use it, since migrations only add, but not migrate it. */
export class NewerSchema extends StoreUnusable {}
