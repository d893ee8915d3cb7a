// One thing after another: what is pressed while an answer is on its way waits until the answer stands on the page.

export class Turns {
  // `act` does an action, and may send a request. `isReady` says whether the turn of an action can come.
  constructor({ act, isReady }) {
    this.act = act;
    this.isReady = isReady;
    this.onIdle = () => {};
    this.open = 0;
    this.current = null;
    this.waiting = [];
  }

  get isBusy() {
    return this.open > 0 || this.waiting.length > 0;
  }

  // The actions whose answer or turn is awaited.
  get actions() {
    return this.open && this.current ? [this.current, ...this.waiting] : [...this.waiting];
  }

  take(action) {
    this.waiting.push(action);
    this.go();
  }

  // Lets all others wait for a request. Its end comes after htmx has put the answer in place, and comes for every answer.
  hold(xhr) {
    this.open += 1;
    xhr.addEventListener("loadend", () => {
      this.open -= 1;
      this.go();
    });
  }

  // Something went another way than was expected: what was pressed before that could be seen is not done.
  forget() {
    this.waiting = [];
  }

  go() {
    while (!this.open && this.waiting.length && this.isReady(this.waiting[0])) {
      this.current = this.waiting.shift();
      this.act(this.current);
    }
    if (!this.isBusy) this.onIdle();
  }
}
