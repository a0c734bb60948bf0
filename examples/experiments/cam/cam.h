/* The cam design problem of "A precise timing routine" (StopWatch), section 4: its cost function,
 * and two approximations of it.
 *
 * The paper names its sources and prints no formula of the approximations. They are taken from
 * these sources:
 *
 *   cost     K. Schittkowski, More Test Examples for Nonlinear Programming Codes (1987),
 *            problem 332. With the formula below the published minimum is met to all of its digits:
 *            114.95015 at (0.91139872, 0.029280207).
 *   TANA-3   S. Xu, R. V. Grandhi, Effective Two-Point Function Approximation for Design
 *            Optimization, AIAA Journal 36 (1998).
 *   GCA      H. Chickermane, H. C. Gea, Structural Optimization Using a New Local Approximation
 *            Method, International Journal for Numerical Methods in Engineering 39 (1996). Its text
 *            was not at hand: this is the form by which it is generally known, a sum of powers of
 *            the variables with exponents from the gradients at two points, limited so that it is
 *            convex.
 *
 * Both approximations know two points: the previous one (1) and the current one (2), with value and
 * gradient. What does not depend on the new point is computed once. */
#ifndef CAM_H
#define CAM_H

#include <math.h>

#define CAM_PI 3.14159265358979323846
#define CAM_MEMBERS 100

/* A point where the function is known. */
struct cam_known {
  double x[2];
  double value;
  double gradient[2];
};

/* The term of one member of the series: the cam's surface along the two axes. */
struct cam_member {
  double sine, cosine, along, across;
};

static inline struct cam_member cam_member(const double x[2], int number) {
  double angle = CAM_PI * (1.0 / 3.0 + (number - 1) / 180.0);
  double sine = sin(angle), cosine = cos(angle), radius = log(angle) + x[1];
  return (struct cam_member){sine, cosine, radius * sine + x[0] * cosine,
      radius * cosine - x[0] * sine};
}

/* The cost: pi / 3.6 times the sum of ((log t + x2) sin t + x1 cos t)^2 + ((log t + x2) cos t - x1
 * sin t)^2 over 100 angles t. */
static inline double cam_cost(const double x[2]) {
  double sum = 0.0;
  for (int number = 1; number <= CAM_MEMBERS; number += 1) {
    struct cam_member member = cam_member(x, number);
    sum += member.along * member.along + member.across * member.across;
  }
  return CAM_PI / 3.6 * sum;
}

/* The cost and its gradient. */
static inline struct cam_known cam_known(double x1, double x2) {
  struct cam_known at = {{x1, x2}, 0.0, {0.0, 0.0}};
  for (int number = 1; number <= CAM_MEMBERS; number += 1) {
    struct cam_member member = cam_member(at.x, number);
    at.gradient[0] += CAM_PI / 1.8 * (member.along * member.cosine - member.across * member.sine);
    at.gradient[1] += CAM_PI / 1.8 * (member.along * member.sine + member.across * member.cosine);
  }
  at.value = cam_cost(at.x);
  return at;
}

/* The exponent with which a power of the variable has the gradients of both points; 1 where no
 * power has both. */
static inline double cam_exponent(const struct cam_known *previous, const struct cam_known *current,
    int at) {
  double gradients = previous->gradient[at] / current->gradient[at],
      variables = previous->x[at] / current->x[at];
  int is_power = gradients > 0.0 && variables > 0.0 && fabs(log(variables)) > 1e-12;
  return is_power ? 1.0 + log(gradients) / log(variables) : 1.0;
}

/* GCA: c + sum of b_i x_i^r_i. */
struct cam_gca {
  double constant, factor[2], exponent[2];
};

/* Value and gradient of the approximation are those of the function at the current point, and its
 * gradient at the previous one. A term is convex if its exponent is at least 1 where the gradient
 * is positive, and at most 1 where it is negative. */
static inline struct cam_gca cam_gca(const struct cam_known *previous,
    const struct cam_known *current) {
  struct cam_gca made = {current->value, {0.0, 0.0}, {1.0, 1.0}};
  for (int at = 0; at < 2; at += 1) {
    double r = cam_exponent(previous, current, at), slope = current->gradient[at],
        x = current->x[at];
    r = slope > 0.0 ? fmax(r, 1.0) : fmin(r, 1.0);
    made.exponent[at] = r;
    made.factor[at] = slope * pow(x, 1.0 - r) / r;
    made.constant -= made.factor[at] * pow(x, r);
  }
  return made;
}

static inline double cam_gca_cost(const struct cam_gca *gca, const double x[2]) {
  return gca->constant + gca->factor[0] * pow(x[0], gca->exponent[0]) + gca->factor[1] *
      pow(x[1], gca->exponent[1]);
}

/* TANA-3: g(X2) + sum of dg(X2)/dx_i x_i2^(1-p_i) / p_i (x_i^p_i - x_i2^p_i) + epsilon / 2 sum of
 * (x_i^p_i - x_i2^p_i)^2, with epsilon = H / (sum of (x_i^p_i - x_i1^p_i)^2 + sum of (x_i^p_i -
 * x_i2^p_i)^2). */
struct cam_tana3 {
  double value, factor[2], exponent[2], power1[2], power2[2], h;
};

/* Value and gradient of the approximation are those of the function at both points. */
static inline struct cam_tana3 cam_tana3(const struct cam_known *previous,
    const struct cam_known *current) {
  struct cam_tana3 made = {current->value, {0.0, 0.0}, {1.0, 1.0}, {0.0, 0.0}, {0.0, 0.0},
      2.0 * (previous->value - current->value)};
  for (int at = 0; at < 2; at += 1) {
    double p = cam_exponent(previous, current, at);
    made.exponent[at] = p;
    made.power1[at] = pow(previous->x[at], p);
    made.power2[at] = pow(current->x[at], p);
    made.factor[at] = current->gradient[at] * pow(current->x[at], 1.0 - p) / p;
    made.h -= 2.0 * made.factor[at] * (made.power1[at] - made.power2[at]);
  }
  return made;
}

static inline double cam_tana3_cost(const struct cam_tana3 *tana3, const double x[2]) {
  double linear = 0.0, from1 = 0.0, from2 = 0.0;
  for (int at = 0; at < 2; at += 1) {
    double power = pow(x[at], tana3->exponent[at]), step1 = power - tana3->power1[at],
        step2 = power - tana3->power2[at];
    linear += tana3->factor[at] * step2;
    from1 += step1 * step1;
    from2 += step2 * step2;
  }
  return tana3->value + linear + 0.5 * tana3->h / (from1 + from2) * from2;
}

#endif
